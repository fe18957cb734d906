//! Checks the number of calls of each row: with a repository that finds nothing, test cases pass
//! although they do nothing.

use super::profile::{Profile, ROWS, RowInfo};
use crate::result::{Row, VolumeRun};

/// The profiles that create what most rows need.
const CREATING: [Profile; 3] = [
    Profile::EntityCreation,
    Profile::RelationshipCreation,
    Profile::EntityClassification,
];

/// Sets the required number of calls of each row, where the completed profiles determine it.
pub(crate) fn judge(run: &VolumeRun, rows: &mut [Row]) {
    let is_over = |profile: Profile| run.profiles.iter().any(|it| it.id == profile.id());
    let is_known = !run.few_types && !rows.iter().any(|row| row.skipped.is_some());
    let instances = u64::from(run.instances_per_type);
    for info in ROWS {
        let is_known = is_known && needed(info).all(is_over);
        let row = rows.iter_mut().find(|row| info.is(row));
        if let Some(row) = row {
            (row.calls_min, row.calls_max) = match info.calls_expected(instances) {
                _ if !is_known => (0, None),
                Some(calls) => (calls, Some(calls)),
                None => (1, None),
            };
        }
    }
}

/// The profiles that must be complete before a row has all its calls. A row depends on what was
/// created. From the first profile that removes something on, a row also depends on every earlier
/// change.
fn needed(info: &RowInfo) -> impl Iterator<Item = Profile> {
    let last = last_to_call(info);
    Profile::ALL.iter().copied().filter(move |profile| {
        let is_before = *profile < last;
        let takes_away = last >= Profile::EntityReHome;
        let counts = CREATING.contains(profile) || (takes_away && !profile.only_reads());
        *profile == last || (is_before && counts)
    })
}

/// The last profile that makes calls of this row, if the number of calls is fixed; otherwise the
/// profile by which the row has some calls.
fn last_to_call(info: &RowInfo) -> Profile {
    match info.row.method {
        "nullPropertiesForEntities" => Profile::EntityRetype,
        "deleteRelationship" => Profile::RelationshipPurge,
        _ => info.row.profile,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{Columns, ProfileRun};

    /// A run at 0005-02 in which these profiles are complete, with the published numbers of calls.
    fn run(profiles: impl IntoIterator<Item = u16>) -> (VolumeRun, Vec<Row>) {
        let rows = ROWS.iter().map(|info| Row {
            profile: info.row.profile.name().to_owned(),
            label: info.row.method.to_owned(),
            columns: Columns {
                samples: info.calls_published,
                ..Columns::default()
            },
            ..Row::default()
        });
        let profile = |id| ProfileRun {
            id,
            ..ProfileRun::default()
        };
        let run = VolumeRun {
            instances_per_type: 5,
            profiles: profiles.into_iter().map(profile).collect(),
            ..VolumeRun::default()
        };
        (run, rows.collect())
    }

    /// The methods with wrong calls, after `change`.
    fn wrong(
        (mut run, mut rows): (VolumeRun, Vec<Row>),
        change: impl FnOnce(&mut VolumeRun, &mut Vec<Row>),
    ) -> Vec<String> {
        change(&mut run, &mut rows);
        judge(&run, &mut rows);
        let wrong = rows.into_iter().filter(Row::has_wrong_calls);
        wrong.map(|row| row.label).collect()
    }

    fn set(rows: &mut [Row], profile: Profile, method: &str, calls: u64) {
        let is_it = |row: &&mut Row| row.profile == profile.name() && row.label == method;
        let row = rows.iter_mut().find(is_it).expect("a row");
        row.columns.samples = calls;
    }

    #[test]
    fn the_published_run_has_the_calls_that_it_must_have() {
        assert!(wrong(run(1..=32), |_, _| ()).is_empty());
        assert!(wrong(run([1, 2, 3, 4, 5, 6, 18, 19]), |_, _| ()).is_empty());
        // Profiles that only read may be missing.
        let more = |_: &mut VolumeRun, rows: &mut Vec<Row>| {
            set(rows, Profile::EntityReHome, "reHomeEntity", 549)
        };
        let changing = (1..=32).filter(|id| ![2, 18, 19].contains(id));
        assert_eq!(wrong(run(changing), more), ["reHomeEntity"]);
        assert!(wrong(run((1..=32).filter(|id| *id != 9)), more).is_empty());
    }

    #[test]
    fn rows_without_calls_and_with_others_are_reported() {
        use Profile::{EntityReHome, EntitySearch, RelationshipCreation};
        let short = |_: &mut VolumeRun, rows: &mut Vec<Row>| {
            set(rows, RelationshipCreation, "addRelationship", 1_089);
            set(rows, EntitySearch, "findEntities", 0);
            set(rows, EntityReHome, "reHomeEntity", 549);
        };
        let all = ["findEntities", "addRelationship", "reHomeEntity"];
        assert_eq!(wrong(run(1..=32), short), all);
        // The third one has not run yet.
        assert_eq!(wrong(run(1..=19), short), all[..2]);
        let of_few_abilities = |run: &mut VolumeRun, rows: &mut Vec<Row>| {
            short(run, rows);
            rows[0].skipped = Some("not supported".to_owned());
        };
        assert!(wrong(run(1..=32), of_few_abilities).is_empty());
    }
}
