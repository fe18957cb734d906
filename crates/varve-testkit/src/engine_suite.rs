//! The contract of `varve-kv` as cases: plain functions over an empty engine, one for each sentence
//! of the contract. A quotation in the comment of a case is from the contract.
//!
//! An engine's tests call `varve_testkit::engine_suite!(make)`, where `make` is an expression of
//! type `(E, K)` with `E: Engine`: a new engine without spaces, and a value that must live as long
//! as the engine (a temporary directory). Each case becomes a test of its own.

pub mod differential;
pub mod reads;
pub mod scans;
pub mod snapshots;
pub mod spaces;
pub mod tables;
pub mod threads;
pub mod writes;

/// Makes a test of each case of the suite; see [`engine_suite`](mod@crate::engine_suite).
#[macro_export]
macro_rules! engine_suite {
    ($make:expr) => {
        $crate::engine_suite!(@cases $make;
            reads: [
                a_row_is_found_by_all_three_parts_of_its_key,
                a_missing_row_is_none,
                keys_and_values_may_be_empty,
                a_value_of_a_mebibyte_comes_back,
                long_keys_come_back,
                get_with_hands_out_the_value_once,
                get_each_hands_out_each_value_once,
                multi_get_answers_in_the_order_asked,
                a_row_that_is_there_is_never_known_to_be_absent,
            ],
            scans: [
                rows_come_in_the_order_of_their_clustering_bytes,
                a_scan_stays_inside_its_partition,
                a_scan_keeps_to_its_range,
                ranges_of_full_bytes_end_with_the_partition,
                reverse_is_the_same_backwards,
                a_break_ends_the_scan,
                a_visitor_may_use_the_space,
                scan_many_visits_ranges_as_given,
                scan_many_visits_many_ranges,
                scan_many_break_ends_one_range_only,
                scan_table_visits_every_row_once,
                scan_table_repeats_its_order,
                scan_table_resumes_after_any_row,
                scan_table_resumes_after_a_removed_row,
                scans_of_parts_visit_every_row_once,
                partitions_that_extend_each_other_stay_apart,
            ],
            writes: [
                a_later_write_to_the_same_row_wins,
                deleting_a_missing_row_does_nothing,
                delete_prefix_removes_exactly_its_rows,
                delete_prefix_keeps_its_place_in_the_batch,
                a_sweep_removes_what_its_batch_deletes,
                an_empty_batch_is_accepted,
                a_batch_spans_tables_and_partitions,
                many_rows_in_one_batch,
                a_batch_may_be_cleared_and_used_again,
                rows_survive_sync_and_compaction,
                a_sound_store_verifies,
                statistics_have_names_and_finite_values,
            ],
            snapshots: [
                later_writes_do_not_show_in_a_snapshot,
                a_snapshot_outlives_compaction,
                a_snapshot_keeps_its_space_open,
                snapshots_of_different_moments_differ,
            ],
            spaces: [
                names_against_the_rule_are_refused,
                spaces_are_listed_in_ascending_order,
                a_missing_space_opens_only_with_create,
                a_space_opens_once_at_a_time,
                rows_survive_closing_and_opening,
                tables_may_be_added,
                tables_may_change_places,
                a_table_may_not_disappear,
                spaces_do_not_share_rows,
                dropping_removes_the_rows,
                dropping_an_open_space_fails,
                dropping_a_missing_space_is_no_error,
            ],
            threads: [
                sixteen_threads_write_and_read,
                a_batch_shows_wholly_in_a_partition,
                a_batch_shows_wholly_or_not_at_all,
                a_write_shows_to_every_thread_once_it_returns,
            ],
            differential: [random_work_agrees_with_a_sorted_map,],
        );
    };
    (@cases $make:expr; $($group:ident: [$($case:ident,)*],)*) => {
        $(
            mod $group {
                #[allow(unused_imports, reason = "the expression may need what is in scope around the macro")]
                use super::*;
                $(
                    #[test]
                    fn $case() {
                        let (engine, _keep) = $make;
                        $crate::engine_suite::$group::$case(&engine);
                    }
                )*
            }
        )*
    };
}
