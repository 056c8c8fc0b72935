//! The walk of a question along its paths: where each group is to be looked at next, and what was
//! found.
//!
//! A rule per measure sees released values alone, at the looks that it planned itself. A group goes
//! to the nearest look that one of its measures wants; the others are not consulted there. So every
//! measure is followed as if it were alone, and a group ends when all of them have.
//!
//! Of many groups some go ahead, and the rest waits until they have ended. What a unit pays is the
//! price of the dearest groups that it touches, so from then on every group may be seen for nothing
//! as far as that many have gone: there the rest starts. Thousands of groups that would have taken
//! all looks of the ladder take one or two.
//!
//! Where something is a share of a total, all groups go together: each is taken to every price that
//! one of them wants, and shares are looked at when all have arrived there. A unit pays for the
//! dearest groups alone, so those that go along cost little or nothing.

mod rule;

pub(crate) use rule::{MeasureRule, at_hand, fixed_price, ladder, rules};

use std::num::NonZeroU32;

use eke_budget::{Amount, Rho};
use eke_noise::Bundle;
use eke_noise::stopping::{AverageLook, Ending, Look, Next};

use crate::ask::read::{Read, double, total};
use crate::ask::shown::answer::{Evidence, Found, Stopped};
use crate::ask::shown::derived::{DerivedRule, Step};

/// A path takes no step that costs less than this fraction (one part in this many) of what was paid
/// for the path before.
pub(crate) const LEAST_STEP_ONE_IN: u128 = 1000;

/// How many groups go ahead of many, at least; and how many times as many as a unit touches.
const AHEAD: usize = 512;
const AHEAD_TIMES: usize = 4;
/// How many times as many groups as would go ahead are many.
const MANY_TIMES: usize = 8;

/// What one look shows of a measure.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Seen {
    Sum(Look<Rho>),
    Average(AverageLook),
    /// What its parts show.
    Parts,
}

/// Where a measure of a group stands.
#[derive(Clone, Copy, Debug)]
enum Standing {
    /// It is to be looked at, at this price of the group.
    Wants { price: Amount<Rho>, number: u32, last: Option<Seen> },
    /// It has come to the price of a look, and waits there for the other groups.
    Arrived { price: Amount<Rho>, number: u32 },
    /// It is looked at beside another measure, and this was seen last.
    Follows(Option<Evidence>),
    /// It has ended.
    Done(Found),
}

/// The walk of the groups of a question, all of them or some.
#[derive(Debug)]
pub(crate) struct Walk {
    /// For groups that have not been seen before, and for those that have.
    rules: [Vec<MeasureRule>; 2],
    /// Whether each group has been seen before.
    seen: Vec<bool>,
    columns: u32,
    /// The highest price of a group.
    most: Amount<Rho>,
    /// The least that a step of a group may cost.
    least: Amount<Rho>,
    /// Nothing for a group that is not followed.
    groups: Vec<Vec<Standing>>,
    /// The groups that are followed now and have not ended, in their order.
    open: Vec<u32>,
    /// The groups that wait for others that go ahead.
    waiting: Vec<u32>,
    /// Whether it was decided which groups go ahead.
    is_sent: bool,
    /// Whether all groups go together, and the price that each was looked at last.
    together: bool,
    at: Vec<Amount<Rho>>,
    looks: u32,
    /// Whether more groups will be followed after these.
    is_part: bool,
    /// Whether the highest price is the furthest point that a tier sees.
    is_capped: bool,
}

impl Walk {
    /// A walk that goes on from where the asker has got before: the price of each group. No
    /// column goes further than to the highest price, and no step of a group is smaller than the
    /// least that can be drawn.
    ///
    /// A group is not looked at before the first look of its widest column: all columns of it are
    /// drawn together.
    pub(crate) fn new(
        rules: Vec<MeasureRule>,
        columns: u32,
        most: Amount<Rho>,
        least: Amount<Rho>,
        revealed: &[Amount<Rho>],
    ) -> Self {
        let by_hand = rules.iter().map(MeasureRule::by_hand).collect();
        let rules = [rules, by_hand];
        let seen: Vec<bool> = revealed.iter().map(|price| !price.is_zero()).collect();
        let start = |group: &Amount<Rho>| {
            let rules = &rules[usize::from(!group.is_zero())];
            let column = Amount::from_grains(group.grains() / u128::from(columns));
            let start = rules.iter().map(MeasureRule::start).max().unwrap_or(Amount::ZERO);
            let wants = |rule: &MeasureRule| {
                let Some(first) = rule.first_from(column) else { return Standing::Follows(None) };
                let first = first.max(start);
                // Where something was revealed, the look is just there.
                let price = if first <= column { *group } else { whole(first, columns).max(least) };
                Standing::Wants { price, number: 1, last: None }
            };
            rules.iter().map(wants).collect()
        };
        let groups: Vec<Vec<Standing>> = revealed.iter().map(start).collect();
        let wants = (0u32..).zip(&groups).filter(|(_, group)| !group.is_empty());
        let open = wants.map(|(group, _)| group).collect();
        let most = whole(most, columns);
        let goes_together =
            |rule: &MeasureRule| matches!(rule, MeasureRule::Derived(rule) if rule.goes_together());
        let together = rules[0].iter().any(goes_together);
        Self {
            rules,
            seen,
            columns,
            most,
            least,
            groups,
            open,
            waiting: Vec::new(),
            is_sent: false,
            together,
            at: vec![Amount::ZERO; revealed.len()],
            looks: 0,
            is_part: false,
            is_capped: false,
        }
    }

    /// The same walk, where the highest price is the furthest point that a tier sees.
    pub(crate) fn capped(mut self) -> Self {
        self.is_capped = true;
        self
    }

    /// The same walk of some groups alone, as a part of an answer.
    pub(crate) fn of(mut self, groups: &[u32]) -> Self {
        for (group, standings) in (0u32..).zip(&mut self.groups) {
            if !groups.contains(&group) {
                standings.clear();
            }
        }
        self.open.retain(|group| groups.contains(group));
        self.is_part = true;
        self
    }

    /// A walk that has ended, with what was found on it.
    pub(crate) fn ended(found: Vec<Vec<Found>>, looks: u32) -> Self {
        let done = |group: Vec<Found>| group.into_iter().map(Standing::Done).collect();
        Self {
            rules: [Vec::new(), Vec::new()],
            seen: vec![false; found.len()],
            columns: 1,
            most: Amount::ZERO,
            least: Amount::ZERO,
            groups: found.into_iter().map(done).collect(),
            open: Vec::new(),
            waiting: Vec::new(),
            is_sent: false,
            together: false,
            at: Vec::new(),
            looks,
            is_part: false,
            is_capped: false,
        }
    }

    /// How many looks were taken at most.
    pub(crate) fn looks(&self) -> u32 {
        self.looks
    }

    /// Where every group that is followed now is to be looked at next.
    pub(crate) fn wanted(&self) -> Vec<(u32, Amount<Rho>)> {
        let own = |&group: &u32| Some((group, nearest(&self.groups[group as usize])?));
        let wanted = self.open.iter().filter_map(own);
        if !self.together {
            return wanted.collect();
        }
        let Some(next) = wanted.map(|(_, price)| price).min() else { return Vec::new() };
        let is_needed = |&group: &u32| {
            let at = self.at[group as usize];
            let own = nearest(&self.groups[group as usize]);
            !self.reaches(at, next) || own.is_some_and(|own| self.reaches(at, own))
        };
        let all = self.open.iter().copied().filter(is_needed);
        all.map(|group| (group, next)).collect()
    }

    /// Before anything is bought, lets some of many groups go ahead, of which a unit touches at
    /// most `touched`, and all others wait. Of what is needed those stay that go ahead.
    ///
    /// Which ones they are does not depend on the noise of groups that have not been looked at, so
    /// where one of these starts is decided by other groups' noise.
    pub(crate) fn send_ahead(&mut self, needed: &mut Vec<(u32, Amount<Rho>)>, touched: NonZeroU32) {
        let ahead = AHEAD.max((touched.get() as usize).saturating_mul(AHEAD_TIMES));
        let walks = self.rules[0].iter().any(|rule| rule.gamma().is_some());
        let is_sent = std::mem::replace(&mut self.is_sent, true);
        if is_sent || !walks || self.together || needed.len() < ahead.saturating_mul(MANY_TIMES) {
            return;
        }
        let every = needed.len() / ahead;
        let mut places = 0usize..;
        needed.retain(|_| places.next().is_some_and(|place| place.is_multiple_of(every)));
        let mut stay = needed.iter().map(|&(group, _)| group).peekable();
        let all = std::mem::take(&mut self.open);
        (self.open, self.waiting) =
            all.into_iter().partition(|group| stay.next_if_eq(group).is_some());
    }

    /// Whether groups wait for others that have all ended.
    pub(crate) fn may_catch_up(&self) -> bool {
        self.open.is_empty() && !self.waiting.is_empty()
    }

    /// Lets the groups go on that have waited, from a price that costs nothing more.
    ///
    /// - Theorem: relative-stopping (docs/theorems.md), and groups for the price
    /// - Proves: the price of the whole set stays the same; stopping rules hold from any first look
    /// - Assumes: as many groups as a unit touches have been paid for up to the price (caller); it
    ///   does not depend on the noise of groups that have not been looked at (`send_ahead`)
    /// - Checked by: `many_groups_start_where_others_have_got_to_for_nothing`,
    ///   `boundaries_hold_wherever_the_first_look_is`
    pub(crate) fn catch_up(&mut self, start: Amount<Rho>) {
        self.open = std::mem::take(&mut self.waiting);
        let start = self.apart(start.min(self.most));
        for &group in &self.open {
            for standing in &mut self.groups[group as usize] {
                if let Standing::Wants { price, .. } = standing {
                    *price = start.max(*price);
                }
            }
        }
    }

    /// The nearest price at or below one that is a whole step before the last look of every
    /// measure, or not before it: two looks close to each other would be two chances to stop.
    fn apart(&self, mut price: Amount<Rho>) -> Amount<Rho> {
        let last = |rule: &MeasureRule| match rule {
            MeasureRule::Sum(_, rule) => Some(whole(rule.last(), self.columns)),
            MeasureRule::Average(..)
            | MeasureRule::Derived(_)
            | MeasureRule::Part(_)
            | MeasureRule::Searched
            | MeasureRule::Beside(_) => None,
        };
        let mut lasts: Vec<Amount<Rho>> = self.rules[0].iter().filter_map(last).collect();
        lasts.sort_unstable();
        for last in lasts.into_iter().rev() {
            // A little more than a step of the ladder.
            let before = Amount::from_grains(last.grains() / 106 * 100);
            if price < last && price > before {
                price = before;
            }
        }
        price
    }

    /// Looks at groups that the asker may see up to these prices.
    pub(crate) fn look_at(
        &mut self,
        groups: impl IntoIterator<Item = (u32, Amount<Rho>)>,
        bundle: &Bundle<Rho>,
    ) {
        for (group, at) in groups {
            self.look(group, bundle, at);
        }
        let groups = &self.groups;
        if !self.together {
            self.open.retain(|&group| nearest(&groups[group as usize]).is_some());
            return;
        }
        for place in 0..self.rules[0].len() {
            self.meet(place);
        }
        // All of them end at once.
        let is_open = |standing: &Standing| {
            matches!(standing, Standing::Wants { .. } | Standing::Arrived { .. })
        };
        if !self.groups.iter().flatten().any(is_open) {
            self.open.clear();
        }
    }

    /// Looks at a share of a total, once all groups have arrived at its price: it goes on in all of
    /// them as long as one needs it, and otherwise ends in all.
    ///
    /// - Theorem: total-of-groups (docs/theorems.md), and derived-interval
    /// - Proves: the confidence sequences of all shares hold at every look at once, so also where
    ///   all have stopped
    /// - Assumes: as for those
    /// - Checked by: `shares_within_an_error_hold_and_stop_together`
    fn meet(&mut self, place: usize) {
        let rule_of = |seen: bool| match self.rules[usize::from(seen)].get(place) {
            Some(MeasureRule::Derived(rule)) if rule.goes_together() => Some(rule),
            _ => None,
        };
        let Some(rule) = rule_of(false) else { return };
        let (mut price, mut number, mut arrived) = (Amount::ZERO, 0, false);
        for standings in self.groups.iter().filter(|group| !group.is_empty()) {
            match standings[place] {
                Standing::Arrived { price: own, number: looks } => {
                    (price, number, arrived) = (own.max(price), looks.max(number), true);
                }
                Standing::Done(_) => {}
                Standing::Wants { .. } | Standing::Follows(_) => return,
            }
        }
        if !arrived {
            return;
        }
        let parts = place + 1..=place + rule.parts();
        let look = |group: &Vec<Standing>, part: usize| match group.get(part) {
            Some(Standing::Follows(look)) => *look,
            _ => None,
        };
        let followed = || self.groups.iter().filter(|group| !group.is_empty());
        let totals: Vec<Option<Option<Evidence>>> = parts
            .clone()
            .zip(rule.are_totals())
            .map(|(part, is_total)| {
                is_total.then(|| total(followed().map(|group| look(group, part))))
            })
            .collect();
        let asked = Amount::from_grains(price.grains() / u128::from(self.columns));
        let step = |(group, &seen): (&Vec<Standing>, &bool)| {
            let looks = parts.clone().zip(&totals).map(|(part, total)| match total {
                Some(total) => *total,
                None => look(group, part),
            });
            match (looks.collect::<Option<Vec<_>>>(), rule_of(seen)) {
                (Some(looks), Some(rule)) => rule.after(&looks, asked),
                _ => Step::Stop(Ending::Grid),
            }
        };
        let steps: Vec<Step> = self.groups.iter().zip(&self.seen).map(step).collect();
        let further = |step: &Step| match step {
            Step::Look(next) => Some(*next),
            Step::Stop(_) => None,
        };
        let next = steps.iter().zip(&self.groups).filter(|(_, group)| !group.is_empty());
        let next = next.filter_map(|(step, _)| further(step)).max();
        let next = next.map(|next| whole(next, self.columns));
        let ends = steps.iter().zip(&self.seen);
        for (standings, (step, &seen)) in self.groups.iter_mut().zip(ends) {
            if !matches!(standings.get(place), Some(Standing::Arrived { .. })) {
                continue;
            }
            standings[place] = Standing::Wants {
                price: next.unwrap_or(price),
                number: number + 1,
                last: Some(Seen::Parts),
            };
            if let (None, Step::Stop(ending)) = (next, step)
                && let Some(rule) = self.rules[usize::from(seen)].get(place)
            {
                end(standings, place, rule, *ending);
            }
        }
    }

    fn look(&mut self, group: u32, bundle: &Bundle<Rho>, at: Amount<Rho>) {
        let (columns, least) = (self.columns, self.least);
        self.at[group as usize] = at.max(self.at[group as usize]);
        // Somebody else has gone further meanwhile, for the same account: from here on it is by
        // hand.
        let wanted = nearest(&self.groups[group as usize]);
        if wanted.is_some_and(|price| at.grains() / 20 * 18 > price.grains()) {
            self.seen[group as usize] = true;
        }
        let rules = &self.rules[usize::from(self.seen[group as usize])];
        let standings = &mut self.groups[group as usize];
        for (place, rule) in rules.iter().enumerate() {
            if let (MeasureRule::Beside(read), Some(standing)) = (rule, standings.get_mut(place)) {
                *standing = Standing::Follows(read.at(bundle, group, at, None));
                continue;
            }
            let Some(&Standing::Wants { price, number, last }) = standings.get(place) else {
                continue;
            };
            if !reaches(at, price, least) {
                continue;
            }
            self.looks = self.looks.max(number);
            let asked = Amount::from_grains(price.grains() / u128::from(columns));
            let further = |next: Amount<Rho>, last: Option<Seen>| Standing::Wants {
                price: whole(next, columns).max(at.plus(Amount::GRAIN).unwrap_or(at)),
                number: number + 1,
                last,
            };
            if let MeasureRule::Derived(rule) = rule
                && let Some(looks) = rule.at(bundle, group, at)
            {
                if rule.goes_together() {
                    standings[place] = Standing::Arrived { price, number };
                    for (standing, look) in standings[place + 1..].iter_mut().zip(looks) {
                        *standing = Standing::Follows(Some(look));
                    }
                    continue;
                }
                match rule.after(&looks, asked) {
                    Step::Stop(ending) => ended(standings, place, rule.found(&looks, ending)),
                    Step::Look(next) => {
                        standings[place] = further(next, Some(Seen::Parts));
                        for (standing, look) in standings[place + 1..].iter_mut().zip(looks) {
                            *standing = Standing::Follows(Some(look));
                        }
                    }
                }
                continue;
            }
            let seen = match rule {
                MeasureRule::Derived(_)
                | MeasureRule::Part(_)
                | MeasureRule::Beside(_)
                | MeasureRule::Searched => None,
                MeasureRule::Sum(Read::Sum { column, .. }, _) => {
                    let look = |value| {
                        let price = bundle.worth(group, *column, at);
                        (!price.is_zero()).then_some(Look { number, asked, price, value })
                    };
                    let point = bundle.nearest(group, *column, at);
                    point.and_then(|(_, value)| look(value)).map(Seen::Sum)
                }
                MeasureRule::Sum(read, _) | MeasureRule::Average(read, _) => {
                    let look = |Evidence { worth, sum, count, .. }: Evidence| {
                        count.map(|count| AverageLook { asked, price: worth, sum, count })
                    };
                    read.at(bundle, group, at, None).and_then(look).map(Seen::Average)
                }
            };
            let next = seen.and_then(|seen| Some((seen, rule.after(seen)?)));
            standings[place] = match next {
                Some((seen, Next::Stop(estimate))) => Standing::Done(rule.found(estimate, seen)),
                Some((_, Next::Look(next))) => further(next, seen),
                // The grid allowed no point here: the next look, or what there was before.
                None if number < 400 && price < self.most => {
                    let further = Amount::from_grains(price.grains() / 20 * 21 + 1);
                    let price = further.min(self.most);
                    Standing::Wants { price, number: number + 1, last }
                }
                None => {
                    end(standings, place, rule, Ending::Grid);
                    continue;
                }
            };
        }
        multiply(standings, rules);
        end_beside(standings, rules);
    }

    /// Whether a point of one price is as good as one of another.
    pub(crate) fn reaches(&self, at: Amount<Rho>, price: Amount<Rho>) -> bool {
        reaches(at, price, self.least)
    }

    /// Ends what is followed now, because the budget does not allow the next looks. None if a group
    /// of it has not been looked at yet.
    pub(crate) fn refuse(&mut self) -> Option<()> {
        let unseen = |standing: &Standing| matches!(standing, Standing::Wants { last: None, .. });
        if self.open.iter().any(|&group| self.groups[group as usize].iter().any(unseen)) {
            return None;
        }
        for group in self.open.drain(..) {
            let rules = &self.rules[usize::from(self.seen[group as usize])];
            let standings = &mut self.groups[group as usize];
            for (place, rule) in rules.iter().enumerate() {
                let wants = |standing: &Standing| {
                    matches!(standing, Standing::Wants { .. } | Standing::Arrived { .. })
                };
                if standings.get(place).is_some_and(wants) {
                    end(standings, place, rule, Ending::Refused);
                }
            }
            multiply(standings, rules);
            end_beside(standings, rules);
        }
        Some(())
    }

    /// Whether more groups will be followed after these.
    pub(crate) fn is_part(&self) -> bool {
        self.is_part
    }

    /// Whether everything has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.open.is_empty() && self.waiting.is_empty()
    }

    /// How many values have ended, of how many; and the first value of the first few groups, as it
    /// was released last.
    pub(crate) fn so_far(&self, few: usize) -> (usize, usize, Vec<(u32, f64)>) {
        let standings = || self.groups.iter().flatten();
        let ended = standings().filter(|standing| matches!(standing, Standing::Done(_))).count();
        let first = (0u32..).zip(self.groups.iter().zip(&self.seen)).filter_map(|(group, of)| {
            let (standings, seen) = of;
            let rule = self.rules[usize::from(*seen)].first()?;
            let value = match (standings.first()?, rule) {
                (Standing::Done(found), _) => found.value,
                (Standing::Wants { last: Some(Seen::Sum(look)), .. }, rule) => {
                    let step = match rule {
                        MeasureRule::Sum(Read::Sum { step, .. }, _) => *step,
                        _ => 1.0,
                    };
                    Some(double(look.value.get()) * step)
                }
                (Standing::Wants { .. } | Standing::Arrived { .. } | Standing::Follows(_), _) => {
                    None
                }
            };
            Some((group, value?))
        });
        (ended, standings().count(), first.take(few).collect())
    }

    /// What the whole answer is, once everything has ended.
    pub(crate) fn answer(&self) -> Option<Vec<Vec<Found>>> {
        (self.has_ended() && !self.is_part).then(|| self.found())
    }

    /// What was found, group by group and measure by measure; nothing for what is not followed or
    /// has not ended.
    pub(crate) fn found(&self) -> Vec<Vec<Found>> {
        let by_tier = |found: &Found| {
            let ending = match found.ending {
                Stopped::HighestPrice | Stopped::OutOfReach if self.is_capped => Stopped::Tier,
                ending => ending,
            };
            Found { ending, ..*found }
        };
        let done = |standing: &Standing| match standing {
            Standing::Done(found) => Some(by_tier(found)),
            Standing::Wants { .. } | Standing::Arrived { .. } | Standing::Follows(_) => None,
        };
        let mut found: Vec<Vec<Found>> =
            self.groups.iter().map(|group| group.iter().filter_map(done).collect()).collect();
        for (place, rule) in self.rules[0].iter().enumerate() {
            if let MeasureRule::Derived(rule) = rule
                && rule.has_totals()
            {
                self.add_totals(place, rule, &mut found);
            }
        }
        found
    }

    /// Puts totals over all groups in place of what each group has, where a measure is made of
    /// them, and what follows from that in place of the measure.
    fn add_totals(&self, place: usize, rule: &DerivedRule, found: &mut [Vec<Found>]) {
        let parts = place + 1..=place + rule.parts();
        let totals: Vec<Option<Option<Evidence>>> = parts
            .clone()
            .zip(rule.are_totals())
            .map(|(part, is_total)| {
                let of = |values: &Vec<Found>| values.get(part).and_then(|found| found.evidence);
                is_total.then(|| total(found.iter().map(of)))
            })
            .collect();
        for (values, &seen) in found.iter_mut().zip(&self.seen) {
            let Some(ending) = values.get(place).map(|found| found.ending) else { continue };
            let looks = parts.clone().zip(&totals).map(|(part, total)| match total {
                Some(total) => *total,
                None => values.get(part).and_then(|found| found.evidence),
            });
            let looks: Option<Vec<Evidence>> = looks.collect();
            let rules = &self.rules[usize::from(seen)];
            let (derived, parts_found) = match (looks, rules.get(place)) {
                (Some(looks), Some(MeasureRule::Derived(rule))) => rule.found_as(&looks, ending),
                _ => (Found::nothing(ending), vec![Found::nothing(ending); rule.parts()]),
            };
            values[place] = derived;
            for (value, part) in values[place + 1..].iter_mut().zip(parts_found) {
                *value = part;
            }
        }
    }
}

/// Ends a measure of a group where it is, with what was seen last of it.
fn end(standings: &mut [Standing], place: usize, rule: &MeasureRule, ending: Ending) {
    let last = match standings[place] {
        Standing::Wants { last, .. } => last,
        Standing::Arrived { .. } => Some(Seen::Parts),
        Standing::Follows(_) | Standing::Done(_) => return,
    };
    let MeasureRule::Derived(rule) = rule else {
        standings[place] = Standing::Done(rule.ended(last, ending));
        return;
    };
    let parts = &standings[place + 1..][..rule.parts()];
    let looks = parts.iter().map(|standing| match standing {
        Standing::Follows(look) => *look,
        Standing::Wants { .. } | Standing::Arrived { .. } | Standing::Done(_) => None,
    });
    let found = match looks.collect::<Option<Vec<_>>>() {
        Some(looks) => rule.found(&looks, ending),
        None => {
            let nothing = Found::nothing(Stopped::from(ending));
            (nothing, vec![nothing; rule.parts()])
        }
    };
    ended(standings, place, found);
}

/// Takes down what was found for a measure and its parts.
fn ended(standings: &mut [Standing], place: usize, (found, parts): (Found, Vec<Found>)) {
    standings[place] = Standing::Done(found);
    for (standing, part) in standings[place + 1..].iter_mut().zip(parts) {
        *standing = Standing::Done(part);
    }
}

/// Ends each multiple of a measure that has ended.
fn multiply(standings: &mut [Standing], rules: &[MeasureRule]) {
    for (place, rule) in rules.iter().enumerate() {
        if let MeasureRule::Derived(rule) = rule
            && rule.is_multiple()
            && let Some(Standing::Done(part)) = standings.get(place + 1).copied()
        {
            standings[place] = Standing::Done(rule.multiplied(&part));
        }
    }
}

/// Ends what is read beside the measures of a group, once all of them have ended: where the last of
/// them did, which its own noise had no part in.
fn end_beside(standings: &mut [Standing], rules: &[MeasureRule]) {
    if nearest(standings).is_some() {
        return;
    }
    for (standing, rule) in standings.iter_mut().zip(rules) {
        if let MeasureRule::Searched = rule {
            *standing = Standing::Done(Found::nothing(Stopped::Met));
        }
        if let (MeasureRule::Beside(_), Standing::Follows(evidence)) = (rule, &*standing) {
            let (value, evidence) = (evidence.map(|evidence| evidence.sum), *evidence);
            let ending = Stopped::Met;
            *standing = Standing::Done(Found { value, low: None, high: None, ending, evidence });
        }
    }
}

/// The nearest look that a measure of a group wants; none if all of them have ended.
fn nearest(group: &[Standing]) -> Option<Amount<Rho>> {
    let wants = group.iter().filter_map(|standing| match standing {
        Standing::Wants { price, .. } => Some(*price),
        Standing::Arrived { .. } | Standing::Follows(_) | Standing::Done(_) => None,
    });
    wants.min()
}

/// Whether a point of one price is as good as one of another: what is missing would be a step of
/// its own, of less than a crumb, or with noise too wide to draw.
fn reaches(at: Amount<Rho>, price: Amount<Rho>, least: Amount<Rho>) -> bool {
    let missing = price.grains().saturating_sub(at.grains());
    let crumb = at.grains() / LEAST_STEP_ONE_IN;
    missing <= crumb || (!at.is_zero() && missing < least.grains())
}

/// The price of a group of which a column costs this.
fn whole(column: Amount<Rho>, columns: u32) -> Amount<Rho> {
    column.times(columns).unwrap_or(Amount::MAX)
}
