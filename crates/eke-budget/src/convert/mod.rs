//! From one way of stating privacy to another, never understating the loss.
//!
//! Every function here returns a bound on the safe side: an epsilon or a delta that is asked for is
//! never below the truth, a rho that may be spent is never above it. Formulas are evaluated in
//! outward-rounded arithmetic at a point found by ordinary floating point; the point decides how
//! tight the bound is, never whether it is one.
//!
//! ```
//! use eke_budget::convert::{Curve, Method};
//! use eke_budget::{Delta, Epsilon};
//!
//! let (epsilon, delta) = (Epsilon::new(1.0)?, Delta::new(1e-6)?);
//! let rho = Method::Tight.rho(epsilon, delta)?;           // what may be spent
//! assert!((rho.get() / 0.02435597035953837 - 1.0).abs() < 1e-9);
//! assert!(Method::Tight.epsilon(rho, delta)? <= epsilon); // and it keeps the promise
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod bessel;
mod curve;
mod gaussian;
mod pure;
mod renyi;
mod skellam;
mod skellam_losses;
mod zcdp;

pub use curve::{ConvertError, Curve};
pub use gaussian::GaussianCurve;
pub use pure::{approximate_to_zcdp, bounded_range_to_zcdp, gaussian_release, pure_to_zcdp};
pub use renyi::{Order, Row, fixed_order_budget};
pub use skellam::{SkellamCurve, SkellamError};
pub use zcdp::Method;
