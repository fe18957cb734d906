//! Requests as no good client sends them.

use varve_graph::GraphOptions;
use varve_kv::MemoryEngine;
use varve_model::time::SystemClock;
use varve_testkit::WatchedEngine;

use super::*;

#[test]
fn only_the_configured_names_are_the_server() {
    let world = World::new();
    let path = "/servers/nobody/open-metadata/repository-services/users/ada/types/all";
    let (exception, id) = world.refused("TypeDefGalleryResponse", "GET", path, "");
    assert_eq!(
        (exception.as_str(), id.as_str()),
        ("InvalidParameterException", "VARVE-OMRS-404-001")
    );
    let path = "/servers/varve/open-metadata/repository-services/users/%20/types/all";
    let (exception, id) = world.refused("TypeDefGalleryResponse", "GET", path, "");
    assert_eq!(
        (exception.as_str(), id.as_str()),
        ("UserNotAuthorizedException", "OMRS-REST-API-400-001")
    );
}

#[test]
fn values_of_paths_are_decoded_once() {
    let world = World::new();
    for (coded, plain) in [
        ("a%2Fb", "a/b"),
        ("a%252Fb", "a%2Fb"),
        ("a+b", "a+b"),
        ("%E2%82%AC", "€"),
    ] {
        let path = format!("instances/entity/{coded}");
        let answer = call(&world.server, "EntityDetailResponse", "GET", &path, "");
        assert_eq!(failure(&answer).0, "EntityNotKnownException");
        assert_eq!(answer["exceptionErrorMessageParameters"][0], plain);
    }
}

#[test]
fn bodies_that_cannot_be_read_are_invalid_parameters() {
    let world = World::new();
    let deep = format!("{}{}", r#"{"x":"#.repeat(10_000), "}".repeat(10_000));
    let nested = format!(r#"{{"class":"EntityCreateRequest","initialProperties":{deep}}}"#);
    for body in [
        "{",
        "[]",
        "3",
        r#"{"class":"EntityDetail"}"#,
        "\u{1}",
        &deep,
        &nested,
    ] {
        let (exception, _) =
            world.refused("EntityDetailResponse", "POST", "instances/entity", body);
        let start: String = body.chars().take(40).collect();
        assert_eq!(exception, "InvalidParameterException", "{start}");
    }
    let (exception, id) = world.refused("EntityDetailResponse", "POST", "instances/entity", "");
    assert_eq!(
        (exception.as_str(), id.as_str()),
        ("InvalidParameterException", "OMRS-REPOSITORY-400-022")
    );
}

#[test]
fn bodies_are_json_and_answers_are_whatever_is_accepted() {
    let world = World::new();
    let send = |media: &str| {
        let request = format!(
            "POST {USERS}/instances/entities HTTP/1.1\r\nhost: h\r\n{media}content-length: 2\r\n\r\n{{}}"
        );
        let answer = world.server.exchange(&request);
        assert_eq!(answer.status, 200);
        answer.text().to_owned()
    };
    for refused in ["content-type: text/plain\r\n", ""] {
        assert!(
            send(refused).contains("InvalidParameterException"),
            "{refused}"
        );
    }
    let json = "content-type: application/json\r\n";
    assert!(send(json).contains(r#""relatedHTTPCode":200"#));
    let path = format!("{USERS}/types/all");
    let request = request("GET", &path, "accept: text/html\r\n", "");
    let answer = world.server.exchange(&request);
    assert_eq!(answer.status, 200);
    assert!(answer.text().contains("InvalidParameterException"));
}

#[test]
fn a_panic_is_reported_in_the_body() {
    let (engine, reads) = WatchedEngine::new(Arc::new(MemoryEngine::new()));
    let options = GraphOptions::new(Arc::new(SystemClock));
    let graphs = Arc::new(Registry::open(Arc::new(engine), options).unwrap());
    let world = World::on(ServerConfig::default(), graphs);
    for (class, verb, path) in [
        ("EntityDetailResponse", "GET", "instances/entity/1"),
        ("EntityDetailResponse", "GET", "instances/entity/1/restore"),
        (
            "EntityListResponse",
            "POST",
            "instances/entity/1/history/all",
        ),
    ] {
        reads.before_read(1, || panic!("on purpose"));
        let (exception, id) = world.refused(class, verb, path, "");
        assert_eq!(
            (exception.as_str(), id.as_str()),
            ("RepositoryErrorException", "VARVE-OMRS-500-001")
        );
    }
}
