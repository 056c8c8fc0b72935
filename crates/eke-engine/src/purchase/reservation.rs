//! Reservations in a register: what is set aside for a question to many people before their rows
//! are read, and settled at what it came to.

use std::path::Path;

use eke_budget::{Amount, Rho};
use eke_ledger::{Address, Asking, Register, RegisterError, Reserved, Short, Stamp};

use super::process;

/// Reserves amounts by person. What a program that has ended had reserved is given up.
///
/// # Errors
/// Another program that runs asks the same, too little is left, or the register fails.
pub(crate) fn reserve(
    register: &mut Register,
    file: &Path,
    asking: &Asking<'_>,
    wanted: &[(u32, Amount<Rho>)],
    short: Short,
) -> Result<Reserved, RegisterError> {
    loop {
        let (number, holder) = match register.reserve(asking, wanted, short) {
            Err(RegisterError::UnderWay { number, holder }) => (number, holder),
            decided => return decided,
        };
        if !process::has_ended(&holder, &Address::File(file.to_owned())) {
            return Err(RegisterError::UnderWay { number, holder });
        }
        match register.give_up(number, &Stamp::now("steward")) {
            // Somebody else was faster.
            Ok(()) | Err(RegisterError::NotUnderWay(_)) => {}
            Err(error) => return Err(error),
        }
    }
}
