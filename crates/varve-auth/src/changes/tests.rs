//! Tests of changes of users and rights.

use super::*;
use crate::resource::{Permission, ResourceType};
use crate::rights::Reach;

const AUTHOR: Author<'_> = Author {
    name: "admin",
    now: 1,
};

fn password() -> NewPassword {
    NewPassword {
        hash: "hash".to_owned(),
        version: 1,
    }
}

fn user(name: &str) -> User {
    User {
        name: name.to_owned(),
        ..User::default()
    }
}

fn make(directory: &mut Directory, made: Made) -> Id {
    let (id, changes) = made.expect("made");
    *directory = directory.after(&changes);
    id
}

#[test]
fn ids_are_those_of_the_original() {
    let mut all = Directory::default();
    let made = all.add_user(user("col:on"), password(), AUTHOR);
    assert_eq!(make(&mut all, made).as_str(), "-30:col`:on");
    let group = Group {
        name: "readers".to_owned(),
        description: None,
    };
    let made = all.add_group(group, AUTHOR);
    let group = make(&mut all, made);
    let target = Target {
        name: "person".to_owned(),
        graph: "g".to_owned(),
        url: "u".to_owned(),
        resources: None,
    };
    let made = all.add_target(target, AUTHOR);
    let target = make(&mut all, made);
    for (permission, wanted) in [
        (Permission::Read, "S-36:readers>-55>-55>11>S-44:person"),
        (Permission::Any, "S-36:readers>-55>-55>21~>S-44:person"),
    ] {
        let (group, target) = (group.clone(), target.clone());
        let made = all.add_access(
            Access {
                group,
                target,
                permission,
                description: None,
            },
            AUTHOR,
        );
        assert_eq!(make(&mut all, made).as_str(), wanted);
    }
}

#[test]
fn what_is_removed_takes_its_memberships_and_rights_along() {
    let mut all = Directory::default();
    let made = all.add_user(user("ann"), password(), AUTHOR);
    let ann = make(&mut all, made);
    let made = all.add_project("p", None, AUTHOR);
    let project = make(&mut all, made);
    let admins = all
        .project(&project)
        .expect("made")
        .body
        .admin_group
        .clone();
    let made = all.add_belong(
        Belong {
            user: ann.clone(),
            group: admins,
            description: None,
        },
        AUTHOR,
    );
    make(&mut all, made);
    let rights = all.rights_of(all.user(&ann).expect("made"));
    let reach = rights.reach("hugegraph", Permission::Write, ResourceType::Project);
    assert_eq!(reach, Reach::Some);
    let made = all.remove_project(&project);
    make(&mut all, made);
    assert_eq!((all.groups().count(), all.belongs().count()), (0, 0));
    assert_eq!((all.targets().count(), all.accesses().count()), (0, 0));
    let made = all.remove_user(&ann);
    make(&mut all, made);
    assert!(all.credential(&ann).is_none());
}

#[test]
fn the_administrator_cannot_be_made_twice_or_removed() {
    let mut all = Directory::default();
    all = all.after(&all.set_administrator(password(), 5));
    let admin = RecordKind::User.id_of(ADMIN);
    assert!(all.add_user(user("admin"), password(), AUTHOR).is_err());
    assert!(all.remove_user(&admin).is_err());
    all = all.after(&all.set_administrator(password(), 9));
    assert_eq!(all.user(&admin).expect("there").created, 5);
}
