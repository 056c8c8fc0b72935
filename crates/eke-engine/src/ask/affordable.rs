//! What a goal may cost, and what is said where it does not fit.
//!
//! Everything here is known before anything is charged: what is left, what was paid for before, and
//! what the first looks and picks of a goal cost at least.
use eke_budget::purchase::GroupPrices;
use eke_budget::{Amount, Charge, Refusal, Rho};

use crate::ask::Asking;
use crate::ask::keys;
use crate::ask::question::{Accuracy, Goal};
use crate::ask::shown::answer::rho_of;
use crate::ask::state::State;
use crate::ask::top::Route;
use crate::ask::walk;
use crate::error::{EngineError, Limit, Refused, cut, three_digits_up};
use crate::purchase::context::RefusedBy;

/// What a goal lacks.
struct TooDear {
    /// What it costs at least, picks and first looks together, beside the keys.
    price: Amount<Rho>,
    /// The point of a path that it takes, and how far the asker's tier sees one, where that
    /// is what does not allow it.
    tier: Option<(Amount<Rho>, Amount<Rho>)>,
}

/// What does not allow a goal.
struct Short {
    /// Whose limit it is.
    limit: Limit,
    /// What the goal costs at least, in all.
    asked: Amount<Rho>,
    /// What it may cost, in all.
    fits: Amount<Rho>,
    /// What of that is beside the keys.
    price: Amount<Rho>,
}

impl Asking<'_> {
    /// The most that a goal may cost the asker, beside the keys.
    ///
    /// A highest price that was asked for is held against what the goal costs whatever is left:
    /// the asker knows both, and a refusal for that tells nothing of what was spent.
    ///
    /// # Errors
    /// The goal does not fit: the refusal says what it costs at least, and what would fit.
    pub(super) fn allowed(
        &self,
        goal: &Goal,
        state: Option<&State>,
        left: Amount<Rho>,
        keys: Amount<Rho>,
    ) -> Result<Amount<Rho>, EngineError> {
        let within = |left| match self.within(goal, state, left, keys)? {
            Ok(more) => Ok(more),
            Err(short) => Err(EngineError::from(self.refusal_for(&short, state, keys)?)),
        };
        if goal.at_most.is_some() {
            within(None)?;
        }
        within(Some(left))
    }

    /// A refusal of the goal, with what would be taken instead.
    fn refusal_for(
        &self,
        short: &Short,
        state: Option<&State>,
        keys: Amount<Rho>,
    ) -> Result<Refused, EngineError> {
        let Short { limit, asked, fits, .. } = *short;
        let (left, _) = self.left()?;
        let (error, price) = self.what_fits(short, state, left, keys);
        let goal = &self.question.goal;
        // A little more than it costs, for what is cut off.
        let more = Amount::from_grains(asked.grains().saturating_add(asked.grains() / 1000));
        let at_most = cut(more).filter(|&most| {
            let at_most = Some(most);
            limit == Limit::AtMost && self.accepts(&Goal { at_most, ..*goal }, state, left, keys)
        });
        let refused = self.refusal(Some(asked), Some(fits));
        Ok(Refused { limit, error, price, at_most, ..refused })
    }

    /// The most that a goal may cost the asker, beside the keys, or what it lacks. Where what is
    /// left does not count, a highest price that was asked for is all that can be short.
    fn within(
        &self,
        goal: &Goal,
        state: Option<&State>,
        left: Option<Amount<Rho>>,
        keys: Amount<Rho>,
    ) -> Result<Result<Amount<Rho>, Short>, EngineError> {
        let (query, goals) = (&self.context.prepared.query, self.goals.with(*goal));
        let route = Route::of(query, &goals, &self.context.unit().budget);
        let (more, limit, fits) = match self.highest((goal, route), state, left, keys) {
            Ok(found) => found,
            Err(short) => return Ok(Err(short)),
        };
        Ok(match self.too_dear((goal, route), state, more)? {
            None => Ok(more),
            Some(TooDear { price, tier: None }) => {
                let asked = price.plus(keys).unwrap_or(Amount::MAX);
                Err(Short { limit, asked, fits, price })
            }
            Some(TooDear { price, tier: Some((point, finest)) }) => {
                Err(Short { limit: Limit::Tier(finest), asked: point, fits: finest, price })
            }
        })
    }

    /// The most that a goal may cost the asker, beside the keys, what says so, and how much that
    /// leaves for all of it.
    fn highest(
        &self,
        (goal, route): (&Goal, Route),
        state: Option<&State>,
        left: Option<Amount<Rho>>,
        keys: Amount<Rho>,
    ) -> Result<(Amount<Rho>, Limit, Amount<Rho>), Short> {
        let (asked, needed) = match goal.accuracy {
            // Picks that were seen before cost nothing.
            Accuracy::Price(price) if matches!(route, Route::Keys { .. }) => (price, Amount::ZERO),
            // What was paid for these points before is part of the price. Keys are not.
            Accuracy::Price(price) => {
                let more = price.minus(self.paid(state)).unwrap_or(Amount::ZERO);
                (more, more)
            }
            Accuracy::Relative(_) | Accuracy::Absolute(_) => (Amount::MAX, Amount::ZERO),
        };
        let is_relative = self.goals.with(*goal).has_relative();
        // What there is for all of it, the price of keys included.
        let (fits, limit) = match (left, goal.at_most) {
            (None, at_most) => (at_most.unwrap_or(Amount::MAX), Limit::AtMost),
            (Some(left), Some(most)) => (left.min(most), Limit::Budget),
            (Some(left), None) => match goal.accuracy {
                Accuracy::Relative(_) | Accuracy::Absolute(_)
                    if is_relative && !matches!(route, Route::Keys { .. }) =>
                {
                    let tenth = Amount::from_grains(left.grains() / 10);
                    let fits = tenth.plus(keys).unwrap_or(left).min(left);
                    (fits, if fits < left { Limit::Tenth } else { Limit::Budget })
                }
                _ => (left, Limit::Budget),
            },
        };
        let all = needed.plus(keys).unwrap_or(Amount::MAX);
        match fits.minus(keys) {
            Some(more) if more >= needed => Ok((asked.min(more), limit, fits)),
            _ => Err(Short { limit, asked: all, fits, price: needed }),
        }
    }

    /// What the asker has paid for the points of a question.
    fn paid(&self, state: Option<&State>) -> Amount<Rho> {
        let paid = state.map_or(&[][..], |state| state.paid(&self.context.own().name));
        let paid = GroupPrices::weighing_at(paid, self.weights());
        paid.map_or(Amount::MAX, |prices| prices.price())
    }

    /// The price of one column of each group, at most; and how far the asker's tier sees a path,
    /// where the tier is the limit.
    pub(super) fn column_most(
        &self,
        (goal, route): (&Goal, Route),
        state: Option<&State>,
        more: Amount<Rho>,
    ) -> (Amount<Rho>, Option<Amount<Rho>>) {
        let columns = self.plan().sums.len().max(1) as u128;
        let known = state.map(|state| state.groups.len());
        let count = known.or_else(|| keys::public_group_count(self.plan()));
        let count = count.unwrap_or(usize::MAX).min(route.most_groups());
        let weights = self.weights();
        let evenly = |price: Amount<Rho>| weights.each_of(count.max(1), price);
        let group = match (goal.accuracy, state) {
            (Accuracy::Price(price), _) => evenly(price),
            (_, Some(state)) if !matches!(route, Route::Top { .. }) => {
                weights.level(state.paid(&self.context.own().name), more)
            }
            (_, _) => evenly(more),
        };
        let column = Amount::from_grains(group.grains() / columns);
        let finest = self.finest().filter(|&finest| finest < column);
        (finest.unwrap_or(column), finest)
    }

    /// What a goal lacks if it does not fit into `more`: an absolute one whose one look is dearer,
    /// or any whose picks do not fit or whose first look would have noise too wide to draw. Nothing
    /// if it fits. Known before anything is charged.
    fn too_dear(
        &self,
        asked: (&Goal, Route),
        state: Option<&State>,
        more: Amount<Rho>,
    ) -> Result<Option<TooDear>, EngineError> {
        let (goal, route) = asked;
        let (picks, half) = self.picks_least(asked)?;
        if matches!(route, Route::Keys { .. }) {
            let short = TooDear { price: picks, tier: None };
            return Ok((picks > more).then_some(short));
        }
        let all = more;
        let more = more.minus(picks).unwrap_or(Amount::ZERO);
        let (most, tier) = self.column_most(asked, state, more);
        let plan = self.plan();
        let columns = u32::try_from(plan.sums.len().max(1)).unwrap_or(u32::MAX);
        // How far the asker has got in every group.
        let paid = state.map_or(&[][..], |state| state.paid(&self.context.own().name));
        let least = paid.iter().min().copied().unwrap_or(Amount::ZERO);
        let least = Amount::from_grains(least.grains() / u128::from(columns));
        let seen = paid.iter().any(|price| !price.is_zero());
        let groups = u32::try_from(route.most_groups()).unwrap_or(u32::MAX);
        let weights = self.weights();
        let is_top = matches!(route, Route::Top { .. });
        // What it costs to see every group that far, beside what was paid for before.
        let of_all = |group: Amount<Rho>| {
            let price = if paid.is_empty() || is_top {
                weights.of_equal(groups as usize, group)
            } else {
                let raised: Vec<_> = paid.iter().map(|&paid| paid.max(group)).collect();
                let raised = GroupPrices::weighing_at(&raised, weights.clone());
                raised.ok().and_then(|raised| raised.price().minus(self.paid(state)))
            };
            price.and_then(|price| price.plus(picks)).unwrap_or(Amount::MAX).max(half)
        };
        let too_dear = |column: Amount<Rho>| TooDear {
            price: of_all(column.times(columns).unwrap_or(Amount::MAX)),
            tier: tier.map(|finest| (column, finest)),
        };
        let measures = &self.context.prepared.query.measures;
        for rule in walk::rules(measures, plan, &self.goals.with(*goal), most)? {
            let rule = if seen { rule.by_hand() } else { rule };
            let beyond = |planned: &Amount<Rho>| *planned > most && *planned > least;
            if let Some(planned) = rule.planned().filter(beyond) {
                return Ok(Some(too_dear(planned)));
            }
        }
        // A group of which nothing was seen begins with a step that can be drawn.
        let (first, _) = eke_noise::path::step_prices(&self.columns());
        let group = most.times(columns).unwrap_or(Amount::MAX);
        let unseen = paid.is_empty() || paid.iter().any(|price| price.is_zero());
        if unseen && group < first {
            let column = first.grains().div_ceil(u128::from(columns));
            return Ok(Some(too_dear(Amount::from_grains(column))));
        }
        Ok((all < half).then(|| TooDear { price: of_all(first), tier: None }))
    }

    /// What the picks of a question cost at least, beyond those that were seen; and what it must be
    /// allowed to cost for the first of them, since no more than half of it goes to picks.
    fn picks_least(
        &self,
        (goal, route): (&Goal, Route),
    ) -> Result<(Amount<Rho>, Amount<Rho>), EngineError> {
        let (sum, count) = match route {
            Route::Everything => return Ok((Amount::ZERO, Amount::ZERO)),
            Route::Top { sum, count } => (sum, count),
            Route::Keys { sum, count } => (sum, Some(count)),
        };
        let by = self.ranked_by((goal, route), sum);
        let all = self.known.as_ref().map(|groups| u32::try_from(groups.len()).unwrap_or(u32::MAX));
        let cost = |count: u32| match &self.known {
            Some(groups) => self.picks_cost(by, groups, count),
            None => Ok(by.each.times(count).unwrap_or(Amount::MAX)),
        };
        let visible = |count: u32| self.visible(by, count.min(all.unwrap_or(u32::MAX)));
        // Without LIMIT they are as many as can be paid for.
        let picks = count.map_or(Ok(Amount::ZERO), |count| cost(visible(count)?))?;
        let one = cost(visible(1)?)?;
        let half = match route {
            Route::Top { .. } => one.times(2).unwrap_or(Amount::MAX),
            Route::Everything | Route::Keys { .. } => Amount::ZERO,
        };
        Ok((picks, half))
    }

    /// Whether a goal would be taken, were it asked for instead.
    fn accepts(
        &self,
        goal: &Goal,
        state: Option<&State>,
        left: Amount<Rho>,
        keys: Amount<Rho>,
    ) -> bool {
        self.within(goal, state, Some(left), keys).is_ok_and(|fits| fits.is_ok())
    }

    /// An absolute error and a price that would be taken instead of the goal, where there are such.
    /// Each is tried as it will be shown.
    fn what_fits(
        &self,
        short: &Short,
        state: Option<&State>,
        left: Amount<Rho>,
        keys: Amount<Rho>,
    ) -> (Option<f64>, Option<Amount<Rho>>) {
        let goal = &self.question.goal;
        let takes =
            |accuracy: Accuracy| self.accepts(&Goal { accuracy, ..*goal }, state, left, keys);
        let error = match goal.accuracy {
            // Which of several errors would have to give way is for the asker to say.
            Accuracy::Absolute(_) if self.goals.differ() => return (None, None),
            Accuracy::Absolute(error) => error,
            // All that there is; or the least that can be drawn, a little more than it for what is
            // cut off.
            Accuracy::Price(_) => {
                let most = short.fits.minus(keys).and_then(|fits| fits.plus(self.paid(state)));
                let least = short.price.grains().saturating_add(short.price.grains() / 100);
                let mut prices = [most, Some(Amount::from_grains(least))].into_iter().flatten();
                let taken = |price| cut(price).filter(|&price| takes(Accuracy::Price(price)));
                return (None, prices.find_map(taken));
            }
            Accuracy::Relative(_) => return (None, None),
        };
        // Out in leaps until it is taken, and then closer.
        let leap = f64::from(u32::MAX);
        let mut further = (1..64).map(|leaps| error * leap.powi(leaps));
        let Some(mut high) = further.find(|&error| takes(Accuracy::Absolute(error))) else {
            return (None, None);
        };
        let mut low = high / leap;
        for _ in 0..16 {
            let middle = low.sqrt() * high.sqrt();
            if takes(Accuracy::Absolute(middle)) { high = middle } else { low = middle }
        }
        let told = [high, high * 1.01].map(three_digits_up);
        (told.into_iter().find(|&error| takes(Accuracy::Absolute(error))), None)
    }

    pub(crate) fn refusal(&self, asked: Option<Amount<Rho>>, fits: Option<Amount<Rho>>) -> Refused {
        let whose = self.context.budget_name();
        let limit = Limit::Budget;
        let charged = self.spent;
        Refused { whose, limit, asked, fits, charged, ..Refused::plainly() }
    }

    /// A refusal by the unit's account, whose numbers an analyst does not see.
    fn refused_by_unit(&self) -> EngineError {
        Refused { whose: self.context.unit_budget_name(), ..self.refusal(None, None) }.into()
    }

    /// Refuses a question that nobody has asked before, and that the unit's account cannot pay for,
    /// before its keys or its first looks are charged.
    pub(super) fn check_unit(
        &self,
        state: Option<&State>,
        keys: Amount<Rho>,
    ) -> Result<(), EngineError> {
        // What others have paid for costs the unit less, or nothing: then its account says so.
        let is_new = if keys.is_zero() {
            state.is_none() && matches!(self.route, Route::Everything)
        } else {
            !self.has_selected()?
        };
        if self.context.payers().others.is_empty() || !is_new {
            return Ok(());
        }
        let account = self.context.ledger().account(&self.context.unit().name).wait()?;
        let purse = account.as_ref().and_then(|account| account.odometer().zcdp());
        let left = purse.map_or(Amount::ZERO, |purse| purse.left());
        let goal = &self.question.goal;
        let at_most = Some(goal.at_most.map_or(left, |most| most.min(left)));
        match self.within(&Goal { at_most, ..*goal }, state, None, keys)? {
            Ok(_) => Ok(()),
            Err(_) => Err(self.refused_by_unit()),
        }
    }

    /// A refusal as the asker may see it: another account's numbers are not shown.
    pub(crate) fn refused(&self, refusal: &Refusal) -> EngineError {
        if let RefusedBy::Unit = self.context.refused_by(refusal) {
            return self.refused_by_unit();
        }
        let delta = refusal.fits.map(Charge::delta);
        let short_of_delta = delta.filter(|&delta| refusal.asked.delta() > delta);
        let refused = self.refusal(Some(rho_of(refusal.asked)), refusal.fits.map(rho_of));
        Refused { delta: short_of_delta, ..refused }.into()
    }
}
