//! Profiles: which cells units are in, what is said of bounds, and who pays.
//!
//! | test | seed | runs | false alarms | critical value | control |
//! |---|---|---|---|---|---|
//! | `each_row_of_a_unit_is_chosen_equally_often` | 1 | 4,000 keys | 1e-7 | 5.4 deviations | copies that count once |
//! | `statements_hold_in_nineteen_of_twenty_fresh_profiles` | 2 | 400 profiles | 1e-6 for each | 44 misses of 400 | what bounds cut is read from the noise that chose them |
//! | `proposals_keep_most_rows_of_all_but_the_stated_units` | 3 | 60 profiles | 1e-6 | 12 of 60 | a quarter of each bound |
//!
//! Defects that were put in by hand, one after the other, and what saw them; N stands for
//! `removing_or_replacing_a_unit_moves_one_cell_of_each_histogram`, P for
//! `cells_agree_with_a_plain_reading`, O for `order_batches_parts_and_disk_change_nothing`:
//!
//! | defect | seen by |
//! |---|---|

mod bought;
mod cells;
mod said;
