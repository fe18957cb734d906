//! A store in a folder: kept once, listed when complete, pruned, checked.

use std::time::Duration;

use varve_graph::backup::BackupKind;

use super::*;

/// A folder for a store and one for what is backed up.
struct Bench {
    folder: tempfile::TempDir,
    store: Store,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let to = folder.path().join("store").display().to_string();
        let options = PlaceOptions {
            to,
            ..PlaceOptions::default()
        };
        let store = Store::open(&options).expect("a store");
        Self { folder, store }
    }

    /// Writes files of these names and contents, and the manifest of a backup with them.
    fn written(&self, created: i64, files: &[(&str, &str)]) -> BackupManifest {
        let stage = self.stage();
        let file = |(name, content): &(&str, &str)| {
            let path = Path::new("graphs/g").join(name);
            let full = stage.join(&path);
            fs::create_dir_all(full.parent().expect("a folder")).expect("created");
            fs::write(full, content).expect("written");
            let mut checksum = Checksum::default();
            checksum.update(content.as_bytes());
            BackupFile {
                path,
                bytes: content.len() as u64,
                checksum: checksum.digits(),
            }
        };
        BackupManifest {
            kind: BackupKind::Files,
            created,
            graphs: vec!["g".into()],
            left_out: Vec::new(),
            files: files.iter().map(file).collect(),
            took_ms: 0,
            new_bytes: 0,
        }
    }

    fn stage(&self) -> std::path::PathBuf {
        self.folder.path().join("stage")
    }

    fn add(&self, created: i64, files: &[(&str, &str)]) -> Stored {
        let manifest = self.written(created, files);
        let added = self
            .store
            .add_written(manifest, &self.stage(), Instant::now(), &|| true);
        added.expect("added")
    }

    /// The files of the store.
    fn objects(&self) -> usize {
        self.store.place.list(FILES).expect("listed").len()
    }

    /// Restores the backup with this name, or the newest; returns its files.
    fn restored(&self, name: Option<&str>) -> Vec<(String, String)> {
        let (_, backup) = self.store.backup(name).expect("a backup");
        let target = tempfile::tempdir().expect("a folder");
        backup.check().expect("sound");
        backup.restore(target.path()).expect("restored");
        let entries = fs::read_dir(target.path().join("g")).expect("a graph");
        let mut files: Vec<(String, String)> = entries
            .map(|entry| {
                let path = entry.expect("an entry").path();
                let name = path.file_name().expect("a name").to_string_lossy();
                let content = fs::read_to_string(&path).expect("read");
                (name.into_owned(), content)
            })
            .collect();
        files.sort();
        files
    }
}

fn pairs(files: &[(&str, &str)]) -> Vec<(String, String)> {
    let pair = |(name, content): &(&str, &str)| (name.to_string(), content.to_string());
    files.iter().map(pair).collect()
}

const FIRST: &[(&str, &str)] = &[("1.sst", "one"), ("2.sst", "two"), ("3.sst", "two")];
const SECOND: &[(&str, &str)] = &[("2.sst", "two"), ("4.sst", "four")];
const SECONDS: i64 = 1_000_000;

#[test]
fn a_file_is_kept_once_and_each_backup_is_restored_as_it_was() {
    let bench = Bench::new();
    assert_eq!(bench.store.list().expect("none yet"), []);
    let first = bench.add(1_795_305_600 * SECONDS, FIRST);
    assert_eq!(first.name, "20261122T000000.000Z");
    assert_eq!(first.manifest.new_bytes, 6, "two files have one content");
    assert_eq!(first.manifest.bytes(), 9);
    let second = bench.add(1_795_305_601 * SECONDS, SECOND);
    assert_eq!(second.manifest.new_bytes, 4);
    assert_eq!(bench.objects(), 3);
    let all = [first.clone(), second.clone()];
    assert_eq!(bench.store.list().expect("two"), all);
    assert_eq!(stored_bytes(&all), 10);
    assert_eq!(bench.restored(Some(&first.name)), pairs(FIRST));
    assert_eq!(bench.restored(Some(&second.name)), pairs(SECOND));
    assert_eq!(bench.restored(None), pairs(SECOND));
    let missing = bench.store.backup(Some("../x")).err().expect("none such");
    assert_eq!(missing.kind, ErrorKind::NotFound);
}

#[test]
fn a_backup_that_was_cut_is_invisible_and_its_files_are_used() {
    let bench = Bench::new();
    let manifest = bench.written(SECONDS, FIRST);
    let asked = std::cell::Cell::new(0);
    let stops = || {
        asked.set(asked.get() + 1);
        asked.get() <= 3
    };
    let cut = bench
        .store
        .add_written(manifest, &bench.stage(), Instant::now(), &stops);
    let cut = cut.expect_err("cut");
    assert!(cut.message.contains("the server stops"), "{cut}");
    assert_eq!(bench.store.list().expect("read"), []);
    assert!(bench.store.backup(None).is_err());
    let next = bench.add(2 * SECONDS, FIRST);
    assert_eq!(next.manifest.new_bytes, 3, "one file was there");
    assert_eq!(bench.restored(None), pairs(FIRST));
    // The rest of the cut file goes with what no backup has.
    let files = bench.folder.path().join("store/files");
    let part = format!("files-{}.part", "0a".repeat(32));
    fs::write(files.join(part), "x").expect("written");
    // What is not of a backup stays.
    fs::write(files.join("report.pdf"), "x").expect("written");
    fs::create_dir(files.join("lost+found")).expect("created");
    bench.store.prune(&Keep::default(), 0).expect("pruned");
    assert_eq!(bench.objects(), 4);
    assert_eq!(bench.restored(None), pairs(FIRST));
}

#[test]
fn what_is_not_kept_goes_with_its_own_files_only() {
    let bench = Bench::new();
    let first = bench.add(SECONDS, FIRST);
    let second = bench.add(2 * SECONDS, SECOND);
    let keep = Keep {
        newest: 1,
        younger_than: Some(Duration::from_secs(10)),
    };
    let all = bench.store.prune(&keep, 5 * SECONDS).expect("pruned");
    assert_eq!(all, [first, second.clone()]);
    assert_eq!(bench.objects(), 3);
    let left = bench.store.prune(&keep, 12 * SECONDS).expect("pruned");
    assert_eq!(left, [second]);
    assert_eq!(bench.objects(), 2);
    assert_eq!(bench.restored(None), pairs(SECOND));
}

#[test]
fn a_backup_without_all_graphs_pushes_out_none() {
    let bench = Bench::new();
    let first = bench.add(SECONDS, FIRST);
    let mut part = bench.written(2 * SECONDS, SECOND);
    part.left_out = vec!["h".into()];
    let stage = bench.stage();
    let added = bench
        .store
        .add_written(part, &stage, Instant::now(), &|| true);
    let part = added.expect("added");
    let keep = Keep {
        newest: 1,
        younger_than: None,
    };
    let left = bench.store.prune(&keep, 9 * SECONDS).expect("pruned");
    assert_eq!(left, [first, part]);
    let whole = bench.add(3 * SECONDS, SECOND);
    let left = bench.store.prune(&keep, 9 * SECONDS).expect("pruned");
    assert_eq!(left, [whole]);
}

#[test]
fn a_backup_is_newer_than_all_others() {
    let bench = Bench::new();
    bench.add(2 * SECONDS, FIRST);
    let manifest = bench.written(SECONDS, SECOND);
    let stage = bench.stage();
    let refused = bench
        .store
        .add_written(manifest, &stage, Instant::now(), &|| true);
    let refused = refused.expect_err("an older one");
    assert!(refused.message.contains("is the clock right?"), "{refused}");
    assert_eq!(bench.restored(None), pairs(FIRST));
}

#[test]
fn a_damaged_manifest_stops_the_removal() {
    let bench = Bench::new();
    let first = bench.add(SECONDS, FIRST);
    bench.add(2 * SECONDS, SECOND);
    let path = bench
        .folder
        .path()
        .join("store/manifests")
        .join(&first.name);
    let text = fs::read_to_string(&path).expect("read");
    fs::write(&path, &text[..text.len() - 4]).expect("written");
    let keep = Keep {
        newest: 1,
        younger_than: None,
    };
    let error = bench.store.prune(&keep, 9 * SECONDS).expect_err("damaged");
    assert!(error.message.contains(&first.name), "{error}");
    assert_eq!(bench.objects(), 3);
    assert_eq!(bench.restored(None), pairs(SECOND), "the other is restored");
}

#[test]
fn damage_is_named_with_the_file() {
    let bench = Bench::new();
    let stored = bench.add(SECONDS, FIRST);
    let [one, two] = [0, 1].map(|at| key_of(&stored.manifest.files[at]));
    let folder = bench.folder.path().join("store");
    let check = || {
        let (_, backup) = bench.store.backup(None).expect("a backup");
        backup.check().expect_err("damaged").message
    };
    fs::write(folder.join(&two), "twu").expect("written");
    let message = check();
    assert!(
        message.contains(&two) && message.contains("2.sst"),
        "{message}"
    );
    assert!(message.contains("damaged"), "{message}");
    fs::remove_file(folder.join(&one)).expect("removed");
    let message = check();
    assert!(
        message.contains(&one) && message.contains("1.sst"),
        "{message}"
    );
    // A backup that finds a file of another length stores it again.
    fs::write(folder.join(&two), "short").expect("written");
    let again = bench.add(2 * SECONDS, FIRST);
    assert_eq!(again.manifest.new_bytes, 6);
    assert_eq!(bench.restored(None), pairs(FIRST));
}

#[test]
fn a_file_that_changed_after_its_checksum_is_not_stored() {
    let bench = Bench::new();
    let manifest = bench.written(SECONDS, FIRST);
    fs::write(bench.stage().join("graphs/g/1.sst"), "uno").expect("written");
    let added = bench
        .store
        .add_written(manifest, &bench.stage(), Instant::now(), &|| true);
    let error = added.expect_err("it changed");
    assert!(error.message.contains("changed"), "{error}");
    assert_eq!(bench.store.list().expect("read"), []);
}
