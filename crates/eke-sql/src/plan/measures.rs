//! The measures of a question: which aggregates are followed for themselves, and which for what is
//! made of them.

use crate::{Expr, Measure};

/// Aggregates by their index, as they are used. An aggregate that is shown, sorted or filtered by
/// is a measure of its own, once; what is made of several has a copy of each, which is followed for
/// it.
#[derive(Debug, Default)]
pub(crate) struct Measures {
    /// Aggregates that are measures of their own, in their order.
    own: Vec<usize>,
    /// Expressions over aggregates and keys, without repetition.
    derived: Vec<Expr>,
}

impl Measures {
    /// Takes down what is shown, sorted or filtered by: an expression over keys and aggregates.
    pub(crate) fn uses(&mut self, expr: &Expr) {
        match expr {
            Expr::Measure(aggregate) => {
                if let Err(place) = self.own.binary_search(aggregate) {
                    self.own.insert(place, *aggregate);
                }
            }
            expr if self.derived.contains(expr) => {}
            expr => expr.children().into_iter().for_each(|child| self.uses(child)),
        }
    }

    /// Takes down what is shown: an aggregate, or a number that is made of some.
    pub(crate) fn shows(&mut self, expr: &Expr) {
        match expr {
            Expr::Measure(_) => self.uses(expr),
            expr if self.derived.contains(expr) => {}
            expr => self.derived.push(expr.clone()),
        }
    }

    /// What was taken down, over measures in place of aggregates.
    pub(crate) fn over(&self, expr: Expr) -> Expr {
        match expr {
            Expr::Measure(aggregate) => {
                Expr::Measure(self.own.binary_search(&aggregate).unwrap_or(usize::MAX))
            }
            expr => match self.derived.iter().position(|one| *one == expr) {
                Some(place) => Expr::Measure(self.place(place)),
                None => expr.map_children(|child| self.over(child)),
            },
        }
    }

    /// The place of a derived measure: after all others, each with its parts behind it.
    fn place(&self, derived: usize) -> usize {
        let before = self.derived[..derived].iter().map(|expr| 1 + aggregates(expr).len());
        self.own.len() + before.sum::<usize>()
    }

    /// The measures, where those of the aggregates are given.
    pub(crate) fn all(&self, of: &[Measure]) -> Vec<Measure> {
        let mut all: Vec<Measure> = self.own.iter().map(|one| of[*one].clone()).collect();
        for expr in &self.derived {
            let (parts, first) = (aggregates(expr), all.len() + 1);
            let value = renamed(expr.clone(), &|aggregate| {
                first + parts.iter().position(|one| *one == aggregate).unwrap_or(0)
            });
            all.push(Measure::Derived { value, parts: parts.len() });
            all.extend(parts.iter().map(|one| of[*one].clone()));
        }
        all
    }
}

/// The aggregates of an expression, each once.
fn aggregates(expr: &Expr) -> Vec<usize> {
    let (mut found, mut left) = (Vec::new(), vec![expr]);
    while let Some(expr) = left.pop() {
        if let Expr::Measure(aggregate) = expr {
            found.push(*aggregate);
        }
        left.extend(expr.children());
    }
    found.sort_unstable();
    found.dedup();
    found
}

fn renamed(expr: Expr, name: &dyn Fn(usize) -> usize) -> Expr {
    match expr {
        Expr::Measure(aggregate) => Expr::Measure(name(aggregate)),
        expr => expr.map_children(|child| renamed(child, name)),
    }
}
