//! Tests of checked answers.

use super::*;

/// Reads an answer without an earlier one.
fn read_alone(text: &str, form: &Form) -> Result<(Envelope, Answer), JsonError> {
    read(text.as_bytes(), form, &mut Checked::default())
}

const TYPE: &str = r#""type":{"class":"InstanceType","typeDefName":"Asset"}"#;

fn entity(guid: &str) -> String {
    let value = r#"{"class":"PrimitivePropertyValue","primitiveValue":1}"#;
    let properties =
        format!(r#"{{"class":"InstanceProperties","instanceProperties":{{"a":{value}}}}}"#);
    let classification =
        format!(r#"{{"class":"Classification",{TYPE},"name":"C","properties":{properties}}}"#);
    format!(
        r#"{{"class":"EntityDetail",{TYPE},"guid":"{guid}","classifications":[{classification}],"properties":{properties}}}"#
    )
}

fn answer(class: &str, rest: &str) -> String {
    format!(r#"{{"class":"{class}","relatedHTTPCode":200,{rest}}}"#)
}

fn list(entities: &[String]) -> String {
    let rest = format!(r#""offset":0,"entities":[{}]"#, entities.join(","));
    answer("EntityListResponse", &rest)
}

#[test]
fn guids_come_in_order() {
    let text = list(&[entity("first"), entity("2"), entity("third")]);
    let (envelope, found) = read_alone(&text, &ENTITIES).expect("an answer");
    assert_eq!((envelope.code, envelope.exception), (200, None));
    let guids: Vec<&str> = found.guids.iter().collect();
    assert_eq!(guids, ["first", "2", "third"]);
    assert_eq!((found.instances, found.guids.get(3)), (3, None));
    let again: Guids = guids.iter().copied().collect();
    assert_eq!(again, found.guids);
}

#[test]
fn both_lists_of_a_graph_are_counted() {
    let proxy = format!(r#"{{"class":"EntityProxy",{TYPE},"guid":"e"}}"#);
    let relationship = format!(
        r#"{{"class":"Relationship",{TYPE},"guid":"r","entityOneProxy":{proxy},"entityTwoProxy":{proxy}}}"#
    );
    let rest = format!(
        r#""entityElementList":[{}],"relationshipElementList":[{relationship},{relationship}]"#,
        entity("e")
    );
    let text = answer("InstanceGraphResponse", &rest);
    let (_, found) = read_alone(&text, &GRAPH).expect("an answer");
    assert_eq!(found.instances, 3);
    let wrong = text.replacen("EntityProxy", "EntityDetail", 1);
    read_alone(&wrong, &GRAPH).expect_err("an end is a proxy");
    for end in ["One", "Two"] {
        let wrong = text.replacen(&format!(r#","entity{end}Proxy":{proxy}"#), "", 1);
        let error = read_alone(&wrong, &GRAPH).expect_err("an end is missing");
        assert!(error.message().contains("end"), "{error}");
    }
}

#[test]
fn an_exception_is_read_whatever_the_class() {
    let text = r#"{"relatedHTTPCode":404,"exceptionClassName":"a.B","exceptionErrorMessage":"no"}"#;
    let (envelope, found) = read_alone(text, &ENTITY).expect("an answer");
    let named = (envelope.code, envelope.exception.as_deref());
    assert_eq!(named, (404, Some("a.B")));
    assert_eq!(envelope.message.as_deref(), Some("no"));
    assert!(found.is_empty);
}

#[test]
fn every_class_is_checked_and_every_byte_read() {
    let good = list(&[entity("a")]);
    read_alone(&good, &ENTITIES).expect("an answer");
    let classes = [
        "EntityListResponse",
        "EntityDetail",
        "InstanceType",
        "Classification",
        "InstanceProperties",
        "PrimitivePropertyValue",
    ];
    for class in classes {
        let wrong = good.replace(&format!(r#""class":"{class}""#), r#""class":"Other""#);
        let error = read_alone(&wrong, &ENTITIES).expect_err(class);
        assert!(error.message().contains("Other"), "{error}");
        let without = good.replace(&format!(r#""class":"{class}","#), "");
        read_alone(&without, &ENTITIES).expect_err(class);
    }
    let nameless = good.replace(r#""guid":"a","#, "");
    let error = read_alone(&nameless, &ENTITIES).expect_err("no GUID");
    assert!(error.message().contains("GUID"), "{error}");
    let empty = good.replace(r#""guid":"a""#, r#""guid":"""#);
    read_alone(&empty, &ENTITIES).expect_err("an empty GUID");
    for length in 0..good.len() {
        read_alone(&good[..length], &ENTITIES).expect_err("cut off");
    }
    let more = good.clone() + "1";
    read_alone(&more, &ENTITIES).expect_err("more than an answer");
    let mut not_text = good.into_bytes();
    let inside = not_text.len() - 20;
    not_text[inside] = 0xFF;
    let mut checked = Checked::default();
    read(&not_text, &ENTITIES, &mut checked).expect_err("not UTF-8");
}

#[test]
fn entities_and_their_classifications_are_kept_as_they_came() {
    let text = list(&[entity("a"), entity("b")]);
    let (_, found) = read_alone(&text, &WHOLE_ENTITIES).expect("an answer");
    let texts: Vec<&str> = found.whole.iter().map(RawJson::text).collect();
    assert_eq!(texts, [entity("a"), entity("b")]);
    let kept = classification(&found.whole[0], "C").expect("read");
    let kept = kept.expect("it carries it");
    assert!(entity("a").contains(kept.text()));
    assert!(kept.text().starts_with(r#"{"class":"Classification""#));
    let other = classification(&found.whole[0], "D").expect("read");
    assert_eq!(other, None);
    let wrong = entity("a").replace(r#""name":"C""#, r#""name":1"#);
    let wrong = RawJson::decode(&mut Reader::new(wrong.as_bytes(), LIMITS).expect("JSON"));
    classification(&wrong.expect("JSON"), "C").expect_err("a name is a text");
}
