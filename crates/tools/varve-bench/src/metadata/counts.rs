//! Checks the number of calls of each row: with a repository that finds nothing, test cases pass
//! although they do nothing.

use super::profile::{Profile, ROWS, RowInfo};
use super::result::{Carried, Limit, RowResult, VolumeRun};

/// The profiles that create what most rows need.
const CREATING: [Profile; 3] = [
    Profile::EntityCreation,
    Profile::RelationshipCreation,
    Profile::EntityClassification,
];

/// Sets the required number of calls of each row, where the completed profiles determine it.
pub(crate) fn judge(run: &mut VolumeRun, carried: &Carried) {
    let is_over = |profile: Profile| run.profiles.iter().any(|it| it.id == profile.id());
    // A change that is left out may leave other rows without instances.
    let changes = |info: &&RowInfo| info.limit == Limit::Write;
    let mut changes = ROWS.iter().filter(changes);
    let is_known = carried.types.is_none()
        && !run.rows.iter().any(|row| row.not_supported)
        && !changes.any(|info| run.left_out.contains(info.row.method));
    let instances = u64::from(run.instances_per_type);
    for info in ROWS {
        let is_made = is_known && !run.left_out.contains(info.row.method);
        let is_known = is_made && needed(info).all(is_over);
        let row = run.rows.iter_mut().find(|row| info.is(row));
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

impl RowInfo {
    /// Whether `row` is the result of this row.
    pub(crate) fn is(&self, row: &RowResult) -> bool {
        row.profile == self.row.profile.name() && row.method == self.row.method
    }
}

impl RowResult {
    /// Whether it has fewer or more calls than required.
    pub(crate) fn has_wrong_calls(&self) -> bool {
        self.calls < self.calls_min || self.calls_max.is_some_and(|most| self.calls > most)
    }
}

#[cfg(test)]
mod tests {
    use super::super::result::ProfileRun;
    use super::*;

    /// A run at 0005-02 in which these profiles are complete, with the published numbers of calls.
    fn run(profiles: impl IntoIterator<Item = u16>) -> VolumeRun {
        let rows = ROWS.iter().map(|info| RowResult {
            profile: info.row.profile.name().to_owned(),
            method: info.row.method.to_owned(),
            calls: info.calls_published,
            ..RowResult::default()
        });
        let profile = |id| ProfileRun {
            id,
            ..ProfileRun::default()
        };
        VolumeRun {
            instances_per_type: 5,
            rows: rows.collect(),
            profiles: profiles.into_iter().map(profile).collect(),
            ..VolumeRun::default()
        }
    }

    /// The methods with wrong calls, after `change`.
    fn wrong(mut run: VolumeRun, change: impl FnOnce(&mut VolumeRun)) -> Vec<String> {
        change(&mut run);
        judge(&mut run, &Carried::default());
        let wrong = run.rows.into_iter().filter(RowResult::has_wrong_calls);
        wrong.map(|row| row.method).collect()
    }

    fn set(run: &mut VolumeRun, profile: Profile, method: &str, calls: u64) {
        let is_it = |row: &&mut RowResult| row.profile == profile.name() && row.method == method;
        run.rows.iter_mut().find(is_it).expect("a row").calls = calls;
    }

    #[test]
    fn the_published_run_has_the_calls_that_it_must_have() {
        assert!(wrong(run(1..=32), |_| ()).is_empty());
        assert!(wrong(run([1, 2, 3, 4, 5, 6, 18, 19]), |_| ()).is_empty());
        // Profiles that only read may be missing.
        let more = |run: &mut VolumeRun| set(run, Profile::EntityReHome, "reHomeEntity", 549);
        let changing = (1..=32).filter(|id| ![2, 18, 19].contains(id));
        assert_eq!(wrong(run(changing), more), ["reHomeEntity"]);
        assert!(wrong(run((1..=32).filter(|id| *id != 9)), more).is_empty());
    }

    #[test]
    fn rows_without_calls_and_with_others_are_reported() {
        use Profile::{EntityReHome, EntitySearch, RelationshipCreation};
        let short = |run: &mut VolumeRun| {
            set(run, RelationshipCreation, "addRelationship", 1_089);
            set(run, EntitySearch, "findEntities", 0);
            set(run, EntityReHome, "reHomeEntity", 549);
        };
        let all = ["findEntities", "addRelationship", "reHomeEntity"];
        assert_eq!(wrong(run(1..=32), short), all);
        // The third one has not run yet.
        assert_eq!(wrong(run(1..=19), short), all[..2]);
        // Without a changing method, others lack their instances.
        let left_out = |run: &mut VolumeRun| {
            short(run);
            run.left_out.insert("addEntity".to_owned());
        };
        assert!(wrong(run(1..=32), left_out).is_empty());
        // Without a reading method, they do not.
        let left_out = |run: &mut VolumeRun| {
            short(run);
            run.left_out.insert("findEntities".to_owned());
        };
        assert_eq!(wrong(run(1..=32), left_out), all[1..]);
        let of_few_abilities = |run: &mut VolumeRun| {
            short(run);
            run.rows[0].not_supported = true;
        };
        assert!(wrong(run(1..=32), of_few_abilities).is_empty());
    }
}
