//! Profiles: which cells units are in, what is said of bounds, and who pays.
//!
//! | test | seed | runs | false alarms | critical value | control |
//! |---|---|---|---|---|---|
//! | `each_row_of_a_unit_is_chosen_equally_often` | none: one key | 4,000 units | 1e-7 | 5.4 deviations | copies that count once |
//! | `statements_hold_in_nineteen_of_twenty_fresh_profiles` | 2 | 400 profiles a size | 1e-6 for each | 44 misses of 400 | what bounds cut is read from the noise that chose them |
//! | `proposals_keep_most_rows_of_all_but_the_stated_units` | 3 | 30 profiles a size | 1e-6 | 12 of 30 fail | a quarter of the bound on rows |

mod bought;
mod cells;
mod said;
