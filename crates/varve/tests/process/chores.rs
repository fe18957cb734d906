//! Work beside the writes: schema changes with their tasks, graphs created, cleared and dropped,
//! backups, periods that end, purges, deletions of vertices with many edges, and history that is
//! forgotten. What each leaves is checked after a crash.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value as Json, json};

use crate::server::{Client, run, shown};

/// What is needed beside the schema of the writers.
pub(crate) const SCHEMA: [(&str, &str); 1] = [(
    "vertexlabels",
    r#"{"name":"brief","id_strategy":"CUSTOMIZE_STRING","properties":["n"],"user_data":{"~history":"1s"}}"#,
)];
/// Options under which the chores reach every place: upkeep comes soon, and few edges are many.
pub(crate) const OPTIONS: [(&str, &str); 4] = [
    ("VARVE_LIMITS_VERTEX_DELETE_EDGES_MAX", "3"),
    ("VARVE_MAINTENANCE_TIDY_INTERVAL_MS", "20"),
    ("VARVE_MAINTENANCE_RETENTION_INTERVAL_SECONDS", "1"),
    ("VARVE_GRAPH_CHANGES", "1s"),
];

const GRAPH: &str = "/graphs/hugegraph";
const CONFIRM_CLEAR: &str = "confirm_message=I%27m+sure+to+delete+all+data";
const CONFIRM_DROP: &str = "confirm_message=I%27m+sure+to+drop+the+graph";
const CONFIRM_PURGE: &str = "confirm_message=I%27m+sure+to+purge+all+versions";
/// The store of backups of a server on this data folder.
pub(crate) fn store(data: &Path) -> PathBuf {
    data.join("store")
}

/// How long a task or backup may take.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A kind of work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chore {
    Schema,
    Graphs,
    Backup,
    Periods,
    Purge,
    Wide,
    Retention,
}

impl Chore {
    const ALL: [Self; 7] = [
        Self::Schema,
        Self::Graphs,
        Self::Backup,
        Self::Periods,
        Self::Purge,
        Self::Wide,
        Self::Retention,
    ];

    /// The one that reaches a fail point of that name.
    pub(crate) fn of(point: &str) -> Option<Self> {
        let known = [
            ("schema.", Self::Schema),
            ("task.", Self::Schema),
            ("index.", Self::Schema),
            ("graph.", Self::Graphs),
            ("space.creat", Self::Graphs),
            ("space.re", Self::Graphs),
            ("space.trash", Self::Graphs),
            ("backup.", Self::Backup),
            ("tidy.", Self::Periods),
            ("purge.", Self::Purge),
            ("delete.", Self::Wide),
            ("retention.", Self::Retention),
            ("changes.", Self::Retention),
        ];
        let found = known.iter().find(|(start, _)| point.starts_with(start));
        found.map(|(_, chore)| *chore)
    }
}

/// What the second graph is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Second {
    Absent,
    Empty,
    Filled,
}

/// The server did not answer, or said that it failed.
struct Stop;

/// Does chores and remembers what must hold afterwards.
pub(crate) struct Chores {
    data: PathBuf,
    next: u64,
    /// What the second graph may be: one thing, or two after a request without an answer.
    second: Vec<Second>,
    backups: Vec<String>,
    /// Backups in the store [`store`].
    stored: Vec<String>,
    purged: Vec<String>,
    deleted: Vec<String>,
    /// Requests that the server answered with a failure.
    pub(crate) failures: u64,
    /// Chores done from beginning to end.
    pub(crate) done: u64,
}

impl Chores {
    pub(crate) fn new(data: &Path) -> Self {
        Self {
            data: data.to_path_buf(),
            next: 0,
            second: vec![Second::Absent],
            backups: Vec::new(),
            stored: Vec::new(),
            purged: Vec::new(),
            deleted: Vec::new(),
            failures: 0,
            done: 0,
        }
    }

    /// Does chores, `first` every other time, until the server does not answer or `go_on` says no.
    pub(crate) fn run(
        &mut self,
        client: &Client,
        first: Option<Chore>,
        go_on: &dyn Fn(&Self) -> bool,
    ) {
        for turn in 0.. {
            if !go_on(self) {
                return;
            }
            let any = Chore::ALL[turn / 2 % Chore::ALL.len()];
            let chore = first.filter(|_| turn % 2 == 0).unwrap_or(any);
            let failures = self.failures;
            match self.one(client, chore) {
                Ok(()) => self.done += 1,
                Err(Stop) if self.failures > failures => {}
                Err(Stop) => return,
            }
        }
    }

    fn one(&mut self, client: &Client, chore: Chore) -> Result<(), Stop> {
        self.next += 1;
        match chore {
            Chore::Schema => self.schema(client),
            Chore::Graphs => self.graphs(client),
            Chore::Backup => self.backup(client),
            Chore::Periods => self.periods(client),
            Chore::Purge => self.purge(client),
            Chore::Wide => self.wide(client),
            Chore::Retention => self.retention(client),
        }
    }

    /// A request that must succeed, or find done already what a request without an answer did.
    fn must(
        &mut self,
        client: &Client,
        method: &str,
        path: &str,
        body: &Json,
    ) -> Result<Json, Stop> {
        let body = if body.is_null() {
            String::new()
        } else {
            body.to_string()
        };
        match client.try_ask(method, path, &body) {
            Some((200..=299, answer)) => Ok(answer),
            Some((503, _)) => self.must_again(client, method, path, &body),
            Some((500.., _)) => {
                self.failures += 1;
                Err(Stop)
            }
            Some((status, answer)) => panic!("{method} {path} {body}: {status} {answer}"),
            None => Err(Stop),
        }
    }

    /// Once more what was refused because the server was busy.
    fn must_again(
        &mut self,
        client: &Client,
        method: &str,
        path: &str,
        body: &str,
    ) -> Result<Json, Stop> {
        let started = Instant::now();
        loop {
            match client.try_ask(method, path, body) {
                Some((503, _)) if started.elapsed() < TIMEOUT => std::thread::yield_now(),
                Some((200..=299, answer)) => return Ok(answer),
                Some((500.., _)) => {
                    self.failures += 1;
                    return Err(Stop);
                }
                Some((status, answer)) => panic!("{method} {path} {body}: {status} {answer}"),
                None => return Err(Stop),
            }
        }
    }

    fn put(
        &mut self,
        client: &Client,
        label: &str,
        id: &str,
        n: i64,
        period: &str,
    ) -> Result<(), Stop> {
        let vertex = json!({ "label": label, "id": id, "properties": { "n": n } });
        let path = format!("{GRAPH}/graph/vertices{period}");
        self.must(client, "POST", &path, &vertex).map(drop)
    }

    fn link(&mut self, client: &Client, from: &str, to: &str) -> Result<(), Stop> {
        let edge = json!({
            "label": "link", "outV": from, "outVLabel": "thing", "inV": to, "inVLabel": "thing",
            "properties": { "n": 1 }
        });
        self.must(client, "POST", &format!("{GRAPH}/graph/edges"), &edge)
            .map(drop)
    }

    fn schema(&mut self, client: &Client) -> Result<(), Stop> {
        let path = format!("{GRAPH}/schema/indexlabels");
        let known = self.must(client, "GET", &path, &Json::Null)?;
        // A crash may have left one; there cannot be two on the same fields.
        for index in known["indexlabels"].as_array().into_iter().flatten() {
            if let Some(name) = index["name"].as_str().filter(|it| it.starts_with("extra")) {
                let left = client.try_ask("DELETE", &format!("{path}/{name}"), "");
                let (_, answer) = left.ok_or(Stop)?;
                self.task(client, &answer)?;
            }
        }
        let name = format!("extra{}", self.next);
        let (from, to) = (format!("s-{}", self.next), format!("u-{}", self.next));
        self.put(client, "thing", &from, 7, "")?;
        self.put(client, "thing", &to, 7, "")?;
        // So that there is something to be indexed.
        self.link(client, &from, &to)?;
        let index = json!({
            "name": name, "base_type": "EDGE_LABEL", "base_value": "link", "index_type": "SECONDARY", "fields": ["n"]
        });
        let created = self.must(
            client,
            "POST",
            &format!("{GRAPH}/schema/indexlabels"),
            &index,
        )?;
        self.task(client, &created)?;
        let path = format!("{GRAPH}/jobs/rebuild/indexlabels/{name}");
        let rebuilt = self.must(client, "PUT", &path, &Json::Null)?;
        self.task(client, &rebuilt)?;
        let path = format!("{GRAPH}/schema/indexlabels/{name}");
        let removed = self.must(client, "DELETE", &path, &Json::Null)?;
        self.task(client, &removed)
    }

    /// Waits for the task that an answer names.
    fn task(&mut self, client: &Client, answer: &Json) -> Result<(), Stop> {
        let Some(id) = answer["task_id"].as_u64().filter(|id| *id > 0) else {
            return Ok(());
        };
        let started = Instant::now();
        loop {
            let task = self.must(client, "GET", &format!("{GRAPH}/tasks/{id}"), &Json::Null)?;
            match task["task_status"].as_str() {
                Some("success") => return Ok(()),
                Some("failed" | "cancelled") | None => {
                    self.failures += 1;
                    return Err(Stop);
                }
                Some(_) => assert!(started.elapsed() < TIMEOUT, "{task}"),
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Sends a request that changes what the second graph is.
    fn turn(
        &mut self,
        client: &Client,
        into: Second,
        method: &str,
        path: &str,
        body: &Json,
    ) -> Result<(), Stop> {
        self.second.push(into);
        let answer = self.must(client, method, path, body);
        if answer.is_ok() {
            self.second = vec![into];
        } else if let Some(now) = second(client) {
            // It failed and lives: it must be what it was or what it was to become.
            assert!(self.second.contains(&now), "{now:?} of {:?}", self.second);
            self.second = vec![now];
        }
        answer.map(drop)
    }

    fn graphs(&mut self, client: &Client) -> Result<(), Stop> {
        if self.second != [Second::Absent] {
            let path = format!("/graphs/second?{CONFIRM_DROP}");
            return self.turn(client, Second::Absent, "DELETE", &path, &Json::Null);
        }
        self.turn(client, Second::Empty, "POST", "/graphs/second", &json!({}))?;
        let label = json!({ "name": "v", "id_strategy": "CUSTOMIZE_NUMBER" });
        self.must(client, "POST", "/graphs/second/schema/vertexlabels", &label)?;
        let vertex = json!({ "label": "v", "id": 1, "properties": {} });
        self.turn(
            client,
            Second::Filled,
            "POST",
            "/graphs/second/graph/vertices",
            &vertex,
        )?;
        let path = format!("/graphs/second/clear?{CONFIRM_CLEAR}");
        self.turn(client, Second::Empty, "DELETE", &path, &Json::Null)?;
        let path = format!("/graphs/second?{CONFIRM_DROP}");
        self.turn(client, Second::Absent, "DELETE", &path, &Json::Null)
    }

    fn backup(&mut self, client: &Client) -> Result<(), Stop> {
        self.one_backup(client, false)?;
        self.one_backup(client, true)
    }

    /// Makes a backup in a folder of its own, or in the store.
    fn one_backup(&mut self, client: &Client, in_store: bool) -> Result<(), Stop> {
        let name = format!("b{}", self.next);
        let request = match in_store {
            true => json!({}),
            false => json!({ "name": name }),
        };
        let started = self.must(client, "POST", "/admin/backup", &request)?;
        let path = format!("/admin/jobs/{}", started["job"]);
        loop {
            let job = self.must(client, "GET", &path, &Json::Null)?;
            match job["status"].as_str() {
                Some("running") => std::thread::sleep(Duration::from_millis(2)),
                Some("done") if in_store => {
                    let name = job["result"]["name"].as_str().expect("a name");
                    self.stored.push(name.to_owned());
                    return Ok(());
                }
                Some("done") => {
                    self.backups.push(name);
                    return Ok(());
                }
                _ => {
                    self.failures += 1;
                    return Err(Stop);
                }
            }
        }
    }

    fn periods(&mut self, client: &Client) -> Result<(), Stop> {
        for at in 0..3 {
            let id = format!("t-{}-{at}", self.next);
            self.put(client, "thing", &id, 1, "")?;
            // With a beginning, the end may have passed when the request arrives.
            let (from, to) = (instant(-1_000), instant(30));
            let period = format!("?valid_from={from}&valid_to={to}");
            self.put(client, "thing", &id, 2, &period)?;
        }
        Ok(())
    }

    fn purge(&mut self, client: &Client) -> Result<(), Stop> {
        let (doomed, other) = (format!("p-{}", self.next), format!("q-{}", self.next));
        self.put(client, "thing", &other, 1, "")?;
        self.put(client, "thing", &doomed, 1, "")?;
        self.put(client, "thing", &doomed, 2, "")?;
        self.link(client, &doomed, &other)?;
        let path = format!("{}/history?{CONFIRM_PURGE}", vertex(&doomed));
        self.must(client, "DELETE", &path, &Json::Null)?;
        self.purged.push(doomed);
        Ok(())
    }

    fn wide(&mut self, client: &Client) -> Result<(), Stop> {
        let hub = format!("h-{}", self.next);
        self.put(client, "thing", &hub, 1, "")?;
        for at in 0..5 {
            let leaf = format!("l-{}-{at}", self.next);
            self.put(client, "thing", &leaf, 1, "")?;
            self.link(client, &hub, &leaf)?;
        }
        self.must(client, "DELETE", &vertex(&hub), &Json::Null)?;
        self.deleted.push(hub);
        Ok(())
    }

    fn retention(&mut self, client: &Client) -> Result<(), Stop> {
        for n in 0..3 {
            self.put(client, "brief", &format!("r-{}", self.next % 4), n, "")?;
        }
        Ok(())
    }

    /// Checks what the chores before a crash have left.
    pub(crate) fn check(&self, client: &Client) {
        let now = second(client).expect("the server answers");
        assert!(self.second.contains(&now), "{now:?} of {:?}", self.second);
        for id in &self.purged {
            let (status, _) = client
                .try_ask("GET", &format!("{}/history", vertex(id)), "")
                .expect("the server answers");
            assert_eq!(status, 404, "{id} was purged");
        }
        for id in &self.deleted {
            let (status, _) = client
                .try_ask("GET", &vertex(id), "")
                .expect("the server answers");
            assert_eq!(status, 404, "{id} was deleted");
        }
        for name in &self.backups {
            let folder = self.data.join("backups").join(name);
            let (code, text) = run(&["restore", "--check", shown(&folder)]);
            assert_eq!(code, 0, "{name}: {text}");
        }
        let store = store(&self.data);
        for name in &self.stored {
            let (code, text) = run(&["restore", "--check", "--at", name, shown(&store)]);
            assert_eq!(code, 0, "{name}: {text}");
        }
    }

    /// Does every chore once on a server that works; the second graph may be what the crash made
    /// it.
    pub(crate) fn all_work(&mut self, client: &Client) {
        self.next += 1_000;
        self.second = vec![second(client).expect("the server answers")];
        for chore in Chore::ALL {
            if self.one(client, chore).is_err() {
                panic!("{chore:?} fails after the restart");
            }
        }
    }
}

/// What the second graph is now; nothing if the server does not answer.
fn second(client: &Client) -> Option<Second> {
    let (status, found) = client.try_ask("GET", "/graphs/second/graph/vertices", "")?;
    match status {
        404 => Some(Second::Absent),
        200 if found["vertices"].as_array().is_some_and(Vec::is_empty) => Some(Second::Empty),
        200 => Some(Second::Filled),
        _ => panic!("{status} {found}"),
    }
}

fn vertex(id: &str) -> String {
    format!("{GRAPH}/graph/vertices/%22{id}%22")
}

/// The instant so many milliseconds from now, in UTC.
fn instant(from_now: i64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.expect("after 1970");
    let apart = Duration::from_millis(from_now.unsigned_abs());
    let since = if from_now < 0 {
        now - apart
    } else {
        now + apart
    };
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    // Years of 400 begin in March, so that a leap day is the last of a year.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 {
        (month + 3, 0)
    } else {
        (month - 9, 1)
    };
    format!(
        "{:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:06}Z",
        era * 400 + year + next,
        second / 3_600,
        second / 60 % 60,
        second % 60,
        since.subsec_micros()
    )
}
