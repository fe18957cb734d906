//! The JSON of the contract: what a real client sends and what it must be sent.

use varve_omrs::instances::*;
use varve_omrs::json::{Decode, JsonError, Limits, Millis, decode, encode};
use varve_omrs::requests::*;
use varve_omrs::types::InstanceStatus;
use varve_omrs::{Exception, OmrsError, error::Message};

fn read<T: Decode>(json: &str) -> T {
    decode(json.as_bytes(), Limits::DEFAULT).unwrap_or_else(|error| panic!("{error}"))
}

fn fault<T: Decode>(json: &str) -> JsonError {
    match decode::<T>(json.as_bytes(), Limits::DEFAULT) {
        Ok(_) => panic!("read: {json}"),
        Err(error) => error,
    }
}

const ENTITY: &str = r#"{"class":"EntityDetailResponse","relatedHTTPCode":200,"entity":{
  "class":"EntityDetail","headerVersion":1,
  "type":{"class":"InstanceType","typeDefCategory":"ENTITY_DEF","typeDefGUID":"2f","typeDefName":"Person","typeDefVersion":2,
    "typeDefSuperTypes":[{"headerVersion":1,"guid":"ac","name":"ActorProfile"}],
    "validStatusList":["ACTIVE","DELETED"],"validInstanceProperties":["name","qualifiedName"]},
  "instanceProvenanceType":"LOCAL_COHORT","metadataCollectionId":"9b","metadataCollectionName":"varve",
  "createdBy":"ada","updatedBy":"bob","maintainedBy":["ada","bob"],"createTime":1700000000000,"updateTime":1700000100000,
  "version":2,"status":"ACTIVE","mappingProperties":{"row":[1, {"a":null}]},"guid":"5e",
  "classifications":[{"class":"Classification","headerVersion":1,
    "type":{"class":"InstanceType","typeDefCategory":"CLASSIFICATION_DEF","typeDefGUID":"74","typeDefName":"Confidentiality","typeDefVersion":1},
    "instanceProvenanceType":"LOCAL_COHORT","metadataCollectionId":"9b","createdBy":"ada","createTime":1700000050000,
    "version":1,"status":"ACTIVE","name":"Confidentiality","classificationOrigin":"ASSIGNED"}],
  "properties":{"class":"InstanceProperties","effectiveFromTime":1690000000000,"instanceProperties":{
    "extra":{"class":"MapPropertyValue","instancePropertyCategory":"MAP","typeName":"map<string,string>",
      "mapValues":{"class":"InstanceProperties","instanceProperties":{
        "k":{"class":"PrimitivePropertyValue","instancePropertyCategory":"PRIMITIVE","primitiveDefCategory":"OM_PRIMITIVE_TYPE_INT","primitiveValue":7}}}},
    "kind":{"class":"EnumPropertyValue","instancePropertyCategory":"ENUM","typeGUID":"30","typeName":"ContactMethodType","ordinal":1,"symbolicName":"Email"},
    "name":{"class":"PrimitivePropertyValue","instancePropertyCategory":"PRIMITIVE","typeGUID":"b34a64b9-554a-42b1-8f8a-7d5c2339f9c4","typeName":"string",
      "primitiveDefCategory":"OM_PRIMITIVE_TYPE_STRING","primitiveValue":"Ada"},
    "since":{"class":"PrimitivePropertyValue","instancePropertyCategory":"PRIMITIVE","typeGUID":"1bef35ca-d4f9-48db-87c2-afce4649362d","typeName":"date",
      "primitiveDefCategory":"OM_PRIMITIVE_TYPE_DATE","primitiveValue":1600000000000},
    "tags":{"class":"ArrayPropertyValue","instancePropertyCategory":"ARRAY","typeName":"array<string>","arrayCount":2,
      "arrayValues":{"class":"InstanceProperties","instanceProperties":{
        "0":{"class":"PrimitivePropertyValue","instancePropertyCategory":"PRIMITIVE","primitiveDefCategory":"OM_PRIMITIVE_TYPE_STRING","primitiveValue":"x"},
        "1":{"class":"PrimitivePropertyValue","instancePropertyCategory":"PRIMITIVE","primitiveDefCategory":"OM_PRIMITIVE_TYPE_STRING","primitiveValue":"y"}}}}}}}}"#;

/// Without the line breaks and the indentation of the examples here; none of their strings holds a
/// blank after a comma.
fn compact(json: &str) -> String {
    json.lines().map(str::trim).collect()
}

#[test]
fn an_entity_is_written_as_the_contract_shows_it() {
    let response: EntityDetailResponse = read(ENTITY);
    assert_eq!(
        String::from_utf8(encode(&response)).unwrap(),
        compact(ENTITY)
    );
    let entity = response.entity.unwrap();
    assert_eq!(entity.header.audit.status, Some(InstanceStatus::Active));
    assert_eq!(
        entity.header.audit.create_time,
        Some(Millis(1_700_000_000_000))
    );
    assert_eq!(
        entity
            .classification("Confidentiality")
            .unwrap()
            .audit
            .version,
        1
    );
    let properties = entity.properties.unwrap();
    let Some(InstancePropertyValue::Array(tags)) = properties.get("tags") else {
        panic!("an array");
    };
    assert_eq!(tags.elements().count(), 2);
}

#[test]
fn null_is_missing_and_unknown_properties_are_skipped() {
    let plain: EntityDetail = read(r#"{"class":"EntityDetail","version":3,"guid":"g"}"#);
    let padded: EntityDetail = read(
        r#" { "class" : "EntityDetail", "guid":"g", "type":null, "classifications":null, "properties":null,
        "future":{"class":"Unheard","of":[1,2,{"x":"}"}]}, "version":3, "createTime":null } "#,
    );
    assert_eq!(plain, padded);
    let ignored: InstanceProperties = read(
        r#"{"class":"InstanceProperties","propertyCount":1,"propertyNames":["a"],"instanceProperties":{"a":null,
        "b":{"class":"MapPropertyValue","mapElementCount":0}}}"#,
    );
    assert_eq!(ignored.values.len(), 1);
    let empty: EntityListResponse = read(r#"{"class":"EntityListResponse","entities":[]}"#);
    let written = String::from_utf8(encode(&empty)).unwrap();
    assert!(!written.contains("entities"), "{written}");
}

#[test]
fn dates_may_be_text() {
    let request: HistoryRequest =
        read(r#"{"class":"HistoryRequest","asOfTime":"2023-11-14T22:13:20.000+0000"}"#);
    assert_eq!(request.as_of_time, Some(Millis(1_700_000_000_000)));
    fault::<HistoryRequest>(r#"{"asOfTime":"yesterday"}"#);
}

#[test]
fn every_kind_of_primitive_value_is_exact() {
    let cases = [
        ("BOOLEAN", "true"),
        ("BYTE", "-128"),
        ("CHAR", "\"é\""),
        ("SHORT", "32767"),
        ("INT", "-2147483648"),
        ("LONG", "9223372036854775807"),
        ("FLOAT", "0.1"),
        ("DOUBLE", "1.7976931348623157e308"),
        ("DOUBLE", "\"NaN\""),
        ("FLOAT", "\"-Infinity\""),
        ("BIGINTEGER", "-123456789012345678901234567890"),
        ("BIGINTEGER", "7"),
        ("BIGDECIMAL", "123456789012345678901234567890.1234567890"),
        ("BIGDECIMAL", "42"),
        ("STRING", "\"a\\\"b\""),
        ("DATE", "-1"),
        ("UNKNOWN", "{\"any\": [1.50]}"),
    ];
    for (category, value) in cases {
        let json = format!(
            "{{\"class\":\"PrimitivePropertyValue\",\"instancePropertyCategory\":\"PRIMITIVE\",\
             \"primitiveDefCategory\":\"OM_PRIMITIVE_TYPE_{category}\",\"primitiveValue\":{value}}}"
        );
        let read: InstancePropertyValue = read(&json);
        assert_eq!(String::from_utf8(encode(&read)).unwrap(), json);
    }
}

#[test]
fn the_kind_of_a_primitive_value_may_come_after_it() {
    let value: InstancePropertyValue = read(
        r#"{"primitiveValue":1e2,"primitiveDefCategory":"OM_PRIMITIVE_TYPE_BIGDECIMAL","class":"PrimitivePropertyValue"}"#,
    );
    let InstancePropertyValue::Primitive(value) = value else {
        panic!("a primitive");
    };
    assert_eq!(
        value.value,
        BigDecimal::from_text("1e2").map(Primitive::BigDecimal)
    );
}

#[test]
fn values_that_do_not_fit_their_kind_are_refused() {
    let cases = [
        ("BOOLEAN", "1"),
        ("BYTE", "128"),
        ("CHAR", "\"ab\""),
        ("CHAR", "\"😀\""),
        ("INT", "2147483648"),
        ("INT", "1.5"),
        ("LONG", "9223372036854775808"),
        ("DOUBLE", "1e999"),
        ("DOUBLE", "\"1.5\""),
        ("BIGINTEGER", "1.5"),
        ("STRING", "5"),
        ("DATE", "true"),
    ];
    for (category, value) in cases {
        let json = format!(
            "{{\"instanceProperties\":{{\"p\":{{\"class\":\"PrimitivePropertyValue\",\
             \"primitiveDefCategory\":\"OM_PRIMITIVE_TYPE_{category}\",\"primitiveValue\":{value}}}}}}}"
        );
        let error = fault::<InstanceProperties>(&json);
        assert_eq!(
            error.path(),
            "instanceProperties.p.primitiveValue",
            "{json}"
        );
    }
}

#[test]
fn an_error_names_the_path() {
    let cases = [
        (
            r#"{"entity":{"classifications":[{"class":"Classification"},{"version":"one"}]}}"#,
            "entity.classifications[1].version",
        ),
        (r#"{"entity":{"status":"SLEEPY"}}"#, "entity.status"),
        (r#"{"entity":{"class":"Relationship"}}"#, "entity.class"),
        (
            r#"{"entity":{"maintainedBy":["a",null]}}"#,
            "entity.maintainedBy[1]",
        ),
        (
            r#"{"entity":{"properties":{"instanceProperties":{"a":{"ordinal":1}}}}}"#,
            "entity.properties.instanceProperties.a",
        ),
    ];
    for (json, path) in cases {
        assert_eq!(fault::<EntityDetailResponse>(json).path(), path, "{json}");
    }
    assert_eq!(fault::<EntityDetailResponse>("{} x").path(), "");
}

#[test]
fn a_request_may_come_as_its_historical_subclass() {
    let json = r#"{"class":"RelatedEntitiesHistoricalFindRequest","asOfTime":5,"limitResultsByStatus":["DELETED"],
        "sequencingOrder":"PROPERTY_ASCENDING","offset":2,"pageSize":7,"entityTypeGUIDs":["t"]}"#;
    let request: RelatedEntitiesFindRequest = read(json);
    assert_eq!(request.paged.find.as_of_time, Some(Millis(5)));
    assert!(request.paged.find.takes(InstanceStatus::Deleted));
    assert!(!request.paged.find.takes(InstanceStatus::Active));
    let written = String::from_utf8(encode(&request)).unwrap();
    assert!(written.starts_with(r#"{"class":"RelatedEntitiesHistoricalFindRequest","#));
    assert_eq!(read::<RelatedEntitiesFindRequest>(&written), request);
    let now = RelatedEntitiesFindRequest::default();
    let written = String::from_utf8(encode(&now)).unwrap();
    assert!(written.starts_with(r#"{"class":"RelatedEntitiesFindRequest","#));
    let error = fault::<RelatedEntitiesFindRequest>(r#"{"class":"HistoryRequest"}"#);
    assert_eq!(error.path(), "class");
}

fn exception<T: std::fmt::Debug>(result: Result<T, OmrsError>) -> (Exception, &'static str) {
    let error = result.unwrap_err();
    (error.exception, error.message.id())
}

#[test]
fn pages_orders_and_times_are_checked() {
    let mut request = PagedFindRequest::default();
    assert_eq!(request.checked_page(), Page::new(0, 0));
    request.page_size = -1;
    let paging = (Exception::PagingError, "OMRS-REPOSITORY-400-050");
    assert_eq!(exception(request.checked_page()), paging);
    assert_eq!(exception(Page::new(-1, 0)), paging);
    assert_eq!(
        Page::new(3, 2),
        Ok(Page {
            offset: 3,
            size: Some(2)
        })
    );
    request.page_size = 1;
    request.order = Some(SequencingOrder::PropertyDescending);
    assert_eq!(
        exception(request.checked_page()).0,
        Exception::PropertyError
    );
    request.sequencing_property = Some("name".to_owned());
    assert!(request.checked_page().is_ok());

    let now = Millis(100);
    let at = |time| HistoryRequest { as_of_time: time };
    let parameter = |id| (Exception::InvalidParameter, id);
    assert_eq!(at(Some(now)).checked(now), Ok(now));
    let future = at(Some(Millis(101))).checked(now);
    assert_eq!(exception(future), parameter("OMRS-REPOSITORY-400-038"));
    assert_eq!(
        exception(at(None).checked(now)),
        parameter("OMRS-REPOSITORY-400-057")
    );
    assert_eq!(FindRequest::default().checked_time(now), Ok(None));
    let range = |from, to| HistoryRangeRequest {
        from_time: from,
        to_time: to,
        ..Default::default()
    };
    assert!(range(Some(now), None).checked_page().is_ok());
    let empty = range(Some(now), Some(now)).checked_page();
    assert_eq!(exception(empty), parameter("OMRS-REPOSITORY-400-083"));
    assert_eq!(range(None, None).order(), HistorySequencingOrder::Backwards);
}

#[test]
fn conditions_are_checked() {
    let text = r#"{"class":"PrimitivePropertyValue","primitiveDefCategory":"OM_PRIMITIVE_TYPE_STRING","primitiveValue":"x"}"#;
    let number = r#"{"class":"PrimitivePropertyValue","primitiveDefCategory":"OM_PRIMITIVE_TYPE_INT","primitiveValue":1}"#;
    let array = r#"{"class":"ArrayPropertyValue"}"#;
    let condition = |operator: &str, value: &str| {
        format!(r#"{{"property":"p","operator":"{operator}","value":{value}}}"#)
    };
    let both =
        format!(r#"{{"property":"p","operator":"EQ","value":{text},"nestedConditions":{{}}}}"#);
    let cases = [
        (condition("EQ", array), ""),
        (condition("IS_NULL", "null"), ""),
        (condition("IN", array), ""),
        (condition("LIKE", text), ""),
        (condition("GTE", number), ""),
        (condition("EQ", "null"), "OMRS-REPOSITORY-400-074"),
        (condition("IN", text), "OMRS-REPOSITORY-400-076"),
        (condition("LIKE", number), "OMRS-REPOSITORY-400-077"),
        (condition("LT", text), "OMRS-REPOSITORY-400-078"),
        (both, "OMRS-REPOSITORY-400-074"),
        ("{}".to_owned(), "OMRS-REPOSITORY-400-074"),
    ];
    for (condition, id) in cases {
        let json = format!(
            r#"{{"class":"EntityFindRequest","matchProperties":{{"matchCriteria":"ANY","conditions":[
                {{"nestedConditions":{{"conditions":[{condition}]}}}}]}},
                "matchClassifications":{{"conditions":[{{"name":"C"}}]}}}}"#
        );
        let request: EntityFindRequest = read(&json);
        assert_eq!(
            read::<EntityFindRequest>(&String::from_utf8(encode(&request)).unwrap()),
            request
        );
        let result = request
            .instances
            .match_properties
            .unwrap()
            .check("matchProperties");
        let found = result
            .as_ref()
            .map_or_else(|error| error.message.id(), |()| "");
        assert_eq!(found, id, "{condition}");
        if let Err(error) = result {
            assert_eq!(error.exception, Exception::InvalidParameter);
            let path = "matchProperties.conditions[0].nestedConditions.conditions[0]";
            assert_eq!(error.properties["parameterName"], path);
        }
        request
            .match_classifications
            .unwrap()
            .check("matchClassifications")
            .unwrap();
    }
    let unnamed: SearchClassifications = read(r#"{"conditions":[{"name":""}]}"#);
    let id = "OMRS-REPOSITORY-400-075";
    assert_eq!(
        exception(unnamed.check("c")),
        (Exception::InvalidParameter, id)
    );
}

#[test]
fn a_failure_is_encoded_in_the_class_of_the_response() {
    let error = OmrsError::new(Message::UnknownEntity, &["0d1"]);
    let response = EntityDetailResponse::failed(&error, "getEntityDetail", "varve");
    let tree: serde_json::Value = serde_json::from_slice(&encode(&response)).unwrap();
    assert_eq!(tree["class"], "EntityDetailResponse");
    assert_eq!(tree["relatedHTTPCode"], 404);
    assert_eq!(
        tree["exceptionClassName"],
        "org.odpi.openmetadata.repositoryservices.ffdc.exception.EntityNotKnownException"
    );
    assert_eq!(tree["actionDescription"], "getEntityDetail");
    assert_eq!(tree["exceptionErrorMessageId"], "OMRS-REPOSITORY-404-002");
    assert_eq!(
        tree["exceptionErrorMessageParameters"],
        serde_json::json!(["0d1", "getEntityDetail", "varve"])
    );
    let message = tree["exceptionErrorMessage"].as_str().unwrap();
    assert!(message.starts_with("OMRS-REPOSITORY-404-002 ") && message.contains("0d1"));
    for part in ["exceptionSystemAction", "exceptionUserAction"] {
        assert!(tree[part].is_string(), "{part}");
    }
    assert!(tree.get("entity").is_none());
    let again: EntityDetailResponse = decode(&encode(&response), Limits::DEFAULT).unwrap();
    assert_eq!(again, response);
    let ok = encode(&VoidResponse::ok());
    assert_eq!(ok, br#"{"class":"VoidResponse","relatedHTTPCode":200}"#);
}

#[test]
fn a_body_that_cannot_be_read_is_an_invalid_parameter() {
    let json = r#"{"initialStatus":3}"#;
    let error = OmrsError::from(fault::<EntityCreateRequest>(json));
    assert_eq!(error.exception, Exception::InvalidParameter);
    assert_eq!(error.properties["parameterName"], "initialStatus");
    assert_eq!(error.related_http_code(), 400);
}

#[test]
fn exceptions_have_the_names_that_clients_know() {
    for exception in Exception::ALL {
        let name = exception.class_name();
        assert!(name.starts_with("org.odpi.openmetadata.repositoryservices.ffdc.exception."));
        assert!(name.ends_with("Exception"));
    }
    assert_eq!(Exception::ALL.len(), 27);
}
