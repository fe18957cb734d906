//! Drafts of what people type: words for an open end, dates of two orders, headings of other
//! languages, ids that no file has, letters.

use varve_load::{Catalogue, Inferred, infer, source_of};

use super::super::data::Set;
use super::super::{Graph, inferred};

const PEOPLE: &str = "person_id,name\np1,Ann\np2,Bob\np3,Cid\np4,Dan\np5,Eve\np6,Fay\n";
const FIRMS: &str = "firm_id,name\nf1,Acme\nf2,Bolt\nf3,Core\n";

fn set(files: &[(&'static str, &str)]) -> Set {
    let files = files.iter();
    let files = files.map(|(name, text)| (*name, text.as_bytes().to_vec()));
    Set {
        files: files.collect(),
    }
}

fn with_people(name: &'static str, text: &str) -> Set {
    set(&[("people.csv", PEOPLE), ("firms.csv", FIRMS), (name, text)])
}

fn drafted(set: &Set) -> Inferred {
    let folder = tempfile::tempdir().expect("a folder");
    inferred(set, folder.path())
}

fn has(drafted: &Inferred, parts: &[&str]) {
    for part in parts {
        assert!(
            drafted.mapping.contains(part),
            "{part}\n{}",
            drafted.mapping
        );
    }
}

#[test]
fn a_word_among_dates_is_an_open_end() {
    let rows = "p1,f1,open,2019-01-01,2020-01-01\np2,f2,-,2018-01-01,bis heute\n\
                p3,f1,open,2018-01-01,bis heute\np4,f1,open,2018-01-01,-\n\
                p5,f1,open,2018-01-01,present\np6,f3,x,2018-01-01,2021-01-01\n";
    let text = format!("person_id,firm_id,state,from,to\n{rows}");
    let graph = Graph::of(&with_people("jobs.csv", &text));
    graph.says(
        "to",
        "'-' (1 rows), 'bis heute' (2 rows), 'present' (1 rows): taken for no end, since the \
         others are dates",
    );
    let ends = graph.edges["jobs"]
        .iter()
        .map(|job| job["valid_to"].clone());
    let closed = ends.filter(|end| !end.is_null()).count();
    assert_eq!(closed, 2, "{}", graph.drafted.mapping);
    // In other columns the same words are values.
    let states = graph.edges["jobs"].iter();
    let states: Vec<&str> = states
        .filter_map(|job| job["properties"]["state"].as_str())
        .collect();
    assert_eq!(states, ["open", "-", "open", "open", "open", "x"]);
    assert!(
        graph.drafted.files[2].columns[4]
            .nulls
            .contains_key("present")
    );
}

#[test]
fn a_word_that_no_list_has_is_none_among_many_dates() {
    let of = |dates: usize, word: &str| {
        let rows = (0..dates).map(|at| format!("{at},{}-01-01\n", 2000 + at));
        let rows: String = rows.collect();
        let text = format!("id,bought\n{rows}98,{word}\n99,{word}\n");
        Graph::of(&set(&[("cars.csv", &text)]))
    };
    let graph = of(6, "fortlaufend");
    assert_eq!(graph.kind("bought"), "DATE");
    graph.says("bought", "'fortlaufend' (2 rows): taken for no value");
    // A text with a digit says more than that there is none.
    assert_eq!(of(6, "summer 2020").kind("bought"), "TEXT");
    // Few dates among words are no column of dates.
    assert_eq!(of(3, "fortlaufend").kind("bought"), "TEXT");
}

#[test]
fn a_word_among_numbers_is_none() {
    let text = "id,weight,shelf\n1,5,7\n2,unknown,8\n3,n/a,9\n4,7.5,top\n5,-,11\n";
    let graph = Graph::of(&set(&[("parts.csv", text)]));
    assert_eq!(graph.kind("weight"), "DOUBLE");
    graph.sum_of_vertices("parts", "weight", [5.0, 7.5].into_iter());
    graph.says(
        "weight",
        "'-' (1 rows), 'unknown' (1 rows): taken for no value",
    );
    assert_eq!(graph.kind("shelf"), "TEXT");
}

#[test]
fn the_order_of_day_and_month_is_one_for_a_file() {
    let jobs = "person_id,firm_id,from,to\np1,f1,04/05/2021,12/31/2021\n\
                p2,f2,03/02/2020,05/06/2021\n";
    let graph = Graph::of(&with_people("jobs.csv", jobs));
    graph.says("from", "the month is taken, as in column 'to'");
    assert_eq!(graph.edges["jobs"][0]["valid_from"], "2021-04-05T00:00:00Z");
    assert_eq!(graph.edges["jobs"][1]["valid_to"], "2021-05-06T00:00:00Z");
    // If a file says nothing, the others do.
    let open = "id,bought,sold\nc1,04/05/2021,06/07/2021\n";
    let other = "code,seen\nx,12/31/2020\n";
    let graph = Graph::of(&set(&[("cars.csv", open), ("views.csv", other)]));
    graph.says(
        "cars.csv",
        "columns 'bought', 'sold': all their dates can be read with the day or with the month \
         first: the month is taken, as in column 'seen' of ",
    );
    has(
        &graph.drafted,
        &["bought = [\"month_day_year\"], sold = [\"month_day_year\"]"],
    );
    let drafted = drafted(&set(&[("cars.csv", open)]));
    has(&drafted, &["the day is taken, else say month_day_year"]);
    let about = |part: &str| {
        drafted
            .unsure
            .iter()
            .filter(|it| it.text.contains(part))
            .count()
    };
    assert_eq!(about("with the month first"), 1, "{:?}", drafted.unsure);
}

#[test]
fn points_and_slashes_tell_two_orders_apart_and_dates_are_no_ends() {
    let stints = "person_id,firm_id,role,start,end\np1,f1,cook,04/16/2021,16.04.2022\n\
                  p2,f1,clerk,2021-03-01,-\np3,f2,boss,03.02.2020,06/17/2021\n";
    let graph = Graph::of(&with_people("stints.csv", stints));
    graph.has(&[("people", 6), ("firms", 3)], &[("stints", 3)]);
    let starts = graph.edges["stints"].iter();
    let starts: Vec<&str> = starts.filter_map(|it| it["valid_from"].as_str()).collect();
    assert_eq!(
        starts,
        ["2021-04-16T00:00:00Z", "2021-03-01", "2020-02-03T00:00:00Z"]
    );
    // Of two orders of one form no date can be made, but they are no ids either.
    let stints = "start,end,role\n13/05/2020,13/05/2021,cook\n05/13/2020,05/13/2021,boss\n";
    let drafted = drafted(&set(&[("stints.csv", stints)]));
    assert!(!drafted.mapping.contains("[[edge]]"), "{}", drafted.mapping);
    has(&drafted, &["line 3 the month ('05/13/2020')"]);
}

#[test]
fn headings_of_other_languages_are_valid_times() {
    for (from, to) in [
        ("von", "bis"),
        ("gültig_von", "gültig_bis"),
        ("Beginn", "Ende"),
        ("seit", "bis"),
        ("début", "fin"),
    ] {
        let text = format!(
            "person_id,firm_id,amt,{from},{to}\np1,f1,Kassier,2020-01-01,2022-01-01\n\
             p1,f1,Vorstand,2021-01-01,2023-01-01\np2,f2,Trainer,2019-01-01,\n"
        );
        let graph = Graph::of(&with_people("aemter.csv", &text));
        graph.has(&[("people", 6), ("firms", 3)], &[("aemter", 3)]);
        graph.says("amt", "tells edges apart that have the same ends (1 rows");
        assert_eq!(graph.edges["aemter"][0]["valid_to"], "2022-01-01", "{from}");
    }
}

#[test]
fn two_dates_of_an_edge_in_one_order_are_its_valid_time() {
    let rows = |swapped: usize| -> String {
        let rows = (0..25).map(|at| {
            let (one, other) = match at < swapped {
                true => (2021 + at, 2020),
                false => (2001 + at, 2030),
            };
            format!(
                "p{},f{},{other}-01-01,{one}-02-01\n",
                at % 6 + 1,
                at % 3 + 1
            )
        });
        format!("person_id,firm_id,quit,entry\n{}", rows.collect::<String>())
    };
    let drafted_of = |swapped| drafted(&with_people("jobs.csv", &rows(swapped)));
    let drafted_some = drafted_of(1);
    has(
        &drafted_some,
        &["valid_from = \"entry\"", "valid_to = \"quit\""],
    );
    has(
        &drafted_some,
        &["since it is before that in 24 rows. Check this"],
    );
    let drafted_many = drafted_of(5);
    assert!(!drafted_many.mapping.contains("valid_to = \"quit\""));
    let born = rows(0).replace("entry", "born");
    let drafted_born = drafted(&with_people("jobs.csv", &born));
    assert!(!drafted_born.mapping.contains("valid_from = \"born\""));
}

#[test]
fn a_column_that_is_not_named_like_an_id_is_one_with_a_note() {
    let graph = Graph::of(&set(&[("sums.csv", "day,amt\nMo,5\nMo,6\nTu,7\n")]));
    graph.says("amt", "taken for the id, since no value is there twice");
    let graph = Graph::of(&set(&[("sums.csv", "day,sum_id\nMo,5\nMo,6\nTu,7\n")]));
    let notes = &graph.drafted.unsure;
    assert!(notes.is_empty(), "{notes:?}");
}

#[test]
fn a_few_unknown_ids_do_not_hide_a_reference() {
    let staff: String = (1..=20)
        .map(|at| format!("{:05},N{at}\n", at * 7))
        .collect();
    let staff = format!("PersNr,Nachname\n{staff}00007,N1\n00014,N2\n");
    let jobs = |others: &[&str]| {
        let rows = (1..=20).map(|at| format!("{:05},f{},2020-01-{at:02}\n", at * 7, at % 3 + 1));
        let rows: String = rows.collect();
        let others = others.iter().map(|id| format!("{id},f1,2020-03-01\n"));
        let others: String = others.collect();
        format!("employee,company,from\n{rows}{others}")
    };
    let of = |others: &[&str]| {
        let jobs = jobs(others);
        drafted(&set(&[
            ("staff.csv", &*staff),
            ("firms.csv", FIRMS),
            ("jobs.csv", &*jobs),
        ]))
    };
    let some = of(&["99999", "88888", "99999"]);
    has(
        &some,
        &[
            "id = \"PersNr\"",
            "source = \"employee\"",
            "target = \"company\"",
            "taken for ids of 'staff', since almost all its values are some",
            "2 of its values are no ids of 'staff' ('99999' in line 22, '88888' in line 23)",
            "2 rows are the same as an earlier row",
        ],
    );
    let many = of(&["99999", "88888", "77777", "66666", "55555"]);
    has(
        &many,
        &["20 of its 25 values are ids of 'staff', too few to take it for a reference: '99999' in"],
    );
    assert!(!many.mapping.contains("taken for ids of 'staff'"));
}

#[test]
fn rows_that_are_the_same_hide_no_key_of_whatever_name() {
    let rows: String = (1..=60).map(|at| format!("k{at};N{}\n", at % 7)).collect();
    for heading in ["PersNr", "Personalnummer", "wer"] {
        let text = format!("{heading};name\n{rows}k3;N3\nk9;N2\n");
        let drafted = drafted(&set(&[("leute.csv", &text)]));
        has(
            &drafted,
            &[&format!("id = \"{heading}\""), "2 rows are the same"],
        );
    }
    // One row in conflict does, unless the name says that it is an id.
    for (heading, is_key) in [("Personalnummer", true), ("wer", false)] {
        let text = format!("{heading};name\n{rows}k3;Other\n");
        let drafted = drafted(&set(&[("leute.csv", &text)]));
        let id = format!("id = \"{heading}\"");
        assert_eq!(drafted.mapping.contains(&id), is_key, "{}", drafted.mapping);
        let told = "1 rows have the value of an earlier row and differ from it";
        assert_eq!(
            drafted.mapping.contains(told),
            is_key,
            "{}",
            drafted.mapping
        );
    }
}

#[test]
fn a_letter_is_no_table() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("letter.csv");
    let infer_text = |text: &str| {
        std::fs::write(&path, text).expect("written");
        let source = source_of(&path).expect("a source");
        infer(&[source], &Catalogue::default(), &|| Ok(()))
    };
    for text in [
        "This is a letter.\nDear customer,\nhow are you, today, and yesterday?\n",
        "This is a letter to you.\nIt has one column of text.\nAnd that is all of it.\n",
    ] {
        let refused = infer_text(text).expect_err("refused");
        assert!(
            refused.contains("it does not look like a table"),
            "{refused}"
        );
    }
    for text in [
        "a,b\n1,2\nDear customer\nhow are you, today, and yesterday?\n",
        "letter\nIt has one column of text.\nAnd that is all of it.\n",
    ] {
        let odd = infer_text(text).expect("drafted");
        has(&odd, &["it does not look like a table"]);
    }
    let fine = infer_text("a,b\n1,2\n3,4\nDear customer\n").expect("drafted");
    assert!(
        !fine.mapping.contains("look like a table"),
        "{}",
        fine.mapping
    );
}

#[test]
fn notes_are_about_what_the_mapping_has() {
    // The ids of one file are texts, those of the other numbers; neither is a property.
    let graph = Graph::of(&set(&[
        ("norms.csv", "nr,titel\n007,Bond\n0815,Norm\n42,Answer\n"),
        ("books.csv", "nr,titel\n1001,Eins\n1002,Zwei\n"),
    ]));
    let notes = &graph.drafted.unsure;
    assert!(notes.is_empty(), "{notes:?}");
}
