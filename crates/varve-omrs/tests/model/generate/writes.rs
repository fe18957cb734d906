//! Random calls that write.

use varve_omrs::instances::{
    Classification, ClassificationOrigin, EntityDetail, EntityProxy, InstanceAuditHeader,
    InstanceHeader, InstanceProvenanceType, Relationship,
};
use varve_omrs::json::{Millis, RawJson};
use varve_omrs::requests::{
    ClassificationRequest, EntityCreateRequest, InstanceGraphRequest, RelationshipCreateRequest,
    TypeDefChangeRequest,
};
use varve_omrs::types::{InstanceStatus, TypeDefLink, TypeDefSummary, TypeIndex};
use varve_omrs::validate;

use super::{
    BEGIN, CLASSIFICATION_TYPES, COPIES, ELSEWHERE, ENTITY_TYPES, Generator, HOME, LINK_COPIES,
    RELATIONSHIP_TYPES,
};
use crate::call::{InstanceKind, Write};

/// Makes a call of one kind.
type Make<Maker> = fn(&mut Maker, &str) -> Write;

impl Generator<'_> {
    /// A call. If it makes an instance, that is to be called `new`.
    pub(crate) fn write(&mut self, new: &str) -> Write {
        // Each kind of call as often as it is to come.
        let weights: [(usize, Make<Self>); 21] = [
            (11, Self::add_entity),
            (2, Self::add_proxy),
            (11, Self::add_relationship),
            (4, Self::update_status),
            (9, Self::update_properties),
            (4, Self::undo),
            (5, Self::delete),
            (3, Self::purge),
            (4, Self::restore),
            (7, Self::classify),
            (2, Self::declassify),
            (4, Self::update_classification),
            (5, Self::proxy_classification),
            (2, Self::re_identify),
            (3, Self::re_type),
            (3, Self::re_home),
            (7, Self::entity_copy),
            (6, Self::relationship_copy),
            (2, Self::copy_by_id),
            (4, Self::classification_copy),
            (1, Self::copies),
        ];
        let all: usize = weights.iter().map(|(weight, _)| weight).sum();
        let mut at = self.random.below(all);
        for (weight, make) in weights {
            if at < weight {
                return make(self, new);
            }
            at -= weight;
        }
        unreachable!("the number is below the sum of the weights")
    }

    fn type_guid(&mut self, from: &[&str]) -> (TypeIndex, Option<String>) {
        let name = self.pick(from);
        let of = self.type_named(name);
        let guid = self.types().get(of).guid().to_owned();
        let guid = match self.random.below(80) {
            0 => None,
            1 => Some("no such type".to_owned()),
            _ => Some(guid),
        };
        (of, guid)
    }

    fn status(&mut self) -> InstanceStatus {
        let usual = [
            InstanceStatus::Active,
            InstanceStatus::Active,
            InstanceStatus::Draft,
            InstanceStatus::Proposed,
            InstanceStatus::Deleted,
        ];
        *self.random.pick(&usual)
    }

    fn classification_name(&mut self) -> String {
        if self.one_in(40) {
            return self.pick(&["", "NoSuchThing", "PrimaryKey"]).to_owned();
        }
        self.pick(&CLASSIFICATION_TYPES).to_owned()
    }

    fn elsewhere(&mut self) -> String {
        self.pick(&ELSEWHERE).to_owned()
    }

    fn add_entity(&mut self, new: &str) -> Write {
        let (of, type_guid) = self.type_guid(&ENTITY_TYPES);
        let mut request = EntityCreateRequest {
            type_guid,
            properties: self.some_properties(of),
            ..Default::default()
        };
        if self.one_in(4) {
            let name = self.classification_name();
            let properties = self.classification_properties(&name);
            request.classifications.push(Classification {
                name: Some(name),
                properties,
                ..Default::default()
            });
        }
        if self.one_in(6) {
            request.status = Some(self.status());
        }
        if self.one_in(6) {
            let home = self.elsewhere();
            request.metadata_collection_id = Some(home).filter(|_| !self.random.one_in(10));
            request.metadata_collection_name = Some("an external source".to_owned());
            return Write::AddExternalEntity(new.to_owned(), request);
        }
        Write::AddEntity(new.to_owned(), request)
    }

    fn add_relationship(&mut self, new: &str) -> Write {
        let (of, type_guid) = self.type_guid(&RELATIONSHIP_TYPES);
        let mut request = RelationshipCreateRequest {
            type_guid,
            properties: self.some_properties(of),
            entity_one_guid: Some(self.fitting_end(of, 0)),
            entity_two_guid: Some(self.fitting_end(of, 1)),
            ..Default::default()
        };
        if self.one_in(10) {
            request.status = Some(self.status());
        }
        if self.one_in(6) {
            let home = self.elsewhere();
            request.metadata_collection_id = Some(home);
            return Write::AddExternalRelationship(new.to_owned(), request);
        }
        Write::AddRelationship(new.to_owned(), request)
    }

    /// An entity that may stand at an end; seldom any.
    fn fitting_end(&mut self, of: TypeIndex, end: usize) -> String {
        let wanted = self.types().get(of).ends().expect("of a relationship")[end];
        for _ in 0..12 {
            let name = self.name(InstanceKind::Entity);
            let known = self.header_of(InstanceKind::Entity, &name);
            let known = known.filter(|header| !header.audit.is_deleted());
            let known = known.map(|header| header.audit.type_name().to_owned());
            let fits = known.is_some_and(|known| {
                let known = self.type_named(&known);
                self.types().is_a(known, wanted)
            });
            if fits {
                return name;
            }
        }
        self.name(InstanceKind::Entity)
    }

    fn update_status(&mut self, _: &str) -> Write {
        let kind = self.kind();
        let name = self.name(kind);
        Write::UpdateStatus(kind, name, self.status())
    }

    fn update_properties(&mut self, _: &str) -> Write {
        let kind = self.kind();
        let name = self.name(kind);
        let of = self.type_of(kind, &name);
        Write::UpdateProperties(kind, name, self.properties(of))
    }

    fn undo(&mut self, _: &str) -> Write {
        let kind = self.kind();
        Write::Undo(kind, self.name(kind))
    }

    /// An instance that is deleted or not, as asked, if there is one.
    fn in_state(&mut self, kind: InstanceKind, deleted: bool) -> String {
        for _ in 0..8 {
            let name = self.name(kind);
            let known = self.header_of(kind, &name);
            if known.is_some_and(|header| header.audit.is_deleted() == deleted) {
                return name;
            }
        }
        self.name(kind)
    }

    fn delete(&mut self, _: &str) -> Write {
        let kind = self.kind();
        let name = self.name(kind);
        let expected = self.expected(kind, &name);
        Write::Delete(kind, name, expected)
    }

    fn purge(&mut self, _: &str) -> Write {
        let kind = self.kind();
        let deleted = !self.one_in(6);
        let name = self.in_state(kind, deleted);
        let expected = self.expected(kind, &name);
        Write::Purge(kind, name, expected)
    }

    fn restore(&mut self, _: &str) -> Write {
        let kind = self.kind();
        let deleted = !self.one_in(6);
        Write::Restore(kind, self.in_state(kind, deleted))
    }

    fn classification_properties(
        &mut self,
        name: &str,
    ) -> Option<varve_omrs::instances::InstanceProperties> {
        let of = self.types().by_name(name)?;
        self.some_properties(of)
    }

    fn classify(&mut self, _: &str) -> Write {
        let entity = self.name(InstanceKind::Entity);
        let name = self.classification_name();
        let properties = self.classification_properties(&name);
        if self.one_in(3) {
            let mut request = ClassificationRequest {
                properties,
                ..Default::default()
            };
            if self.one_in(2) {
                request.metadata_collection_id = Some(self.elsewhere());
                request.metadata_collection_name = Some("an external source".to_owned());
            }
            if self.one_in(2) {
                request.origin = Some(ClassificationOrigin::Propagated);
                request.origin_guid = Some("somewhere".to_owned());
            }
            return Write::ClassifyInFull(entity, name, request);
        }
        Write::Classify(entity, name, properties)
    }

    /// A classification that the entity has, if it has one.
    fn carried(&mut self, entity: &str) -> String {
        let guid = self.names.guid(entity);
        let carried = self.naive.classifications(&guid);
        let one = carried.get(self.random.below(carried.len().max(1)));
        let one = one.map(|one| one.name().to_owned());
        one.unwrap_or_else(|| self.classification_name())
    }

    fn classified(&mut self) -> (String, String) {
        for _ in 0..6 {
            let entity = self.name(InstanceKind::Entity);
            if !self
                .naive
                .classifications(&self.names.guid(&entity))
                .is_empty()
            {
                let name = self.carried(&entity);
                return (entity, name);
            }
        }
        (self.name(InstanceKind::Entity), self.classification_name())
    }

    fn declassify(&mut self, _: &str) -> Write {
        let (entity, name) = self.classified();
        Write::Declassify(entity, name)
    }

    fn update_classification(&mut self, _: &str) -> Write {
        let (entity, name) = self.classified();
        let properties = self.classification_properties(&name).unwrap_or_default();
        Write::UpdateClassification(entity, name, properties)
    }

    /// What stands for an entity that is here, or that is not.
    fn proxy_given(&mut self, name: &str) -> EntityProxy {
        match self.header_of(InstanceKind::Entity, name).cloned() {
            Some(header) => EntityProxy {
                header: InstanceHeader {
                    guid: Some(name.to_owned()),
                    ..header
                },
                ..Default::default()
            },
            None => {
                let entity = self.far_entity();
                self.as_proxy(&entity)
            }
        }
    }

    /// The calls that classify what may be known as a proxy only.
    fn proxy_classification(&mut self, new: &str) -> Write {
        let is_new = self.one_in(2);
        let call = match is_new {
            true => self.classify(new),
            false if self.one_in(3) => self.declassify(new),
            false => self.update_classification(new),
        };
        match call {
            Write::Classify(entity, name, properties) => {
                Write::ClassifyProxy(self.proxy_given(&entity), name, properties)
            }
            Write::ClassifyInFull(entity, name, request) => {
                Write::ClassifyProxyInFull(self.proxy_given(&entity), name, request)
            }
            Write::Declassify(entity, name) => {
                Write::DeclassifyProxy(self.proxy_given(&entity), name)
            }
            Write::UpdateClassification(entity, name, properties) => {
                Write::UpdateProxyClassification(self.proxy_given(&entity), name, properties)
            }
            other => unreachable!("{other:?} classifies nothing"),
        }
    }

    fn re_identify(&mut self, new: &str) -> Write {
        let kind = self.kind();
        let name = self.name(kind);
        let expected = self.expected(kind, &name);
        let new = if self.one_in(8) {
            self.name(kind)
        } else {
            format!("re-{new}")
        };
        Write::ReIdentify(kind, name, new, expected)
    }

    fn re_type(&mut self, _: &str) -> Write {
        let kind = self.kind();
        let name = self.name(kind);
        let expected = self.expected(kind, &name);
        let new = match kind {
            InstanceKind::Entity => self.pick(&ENTITY_TYPES),
            InstanceKind::Relationship => self.pick(&RELATIONSHIP_TYPES),
        };
        let guid = self.types().get(self.type_named(new)).guid().to_owned();
        let summary = |guid: Option<String>, name: Option<String>| TypeDefSummary {
            link: TypeDefLink {
                guid,
                name,
                ..Default::default()
            },
            ..Default::default()
        };
        let change = TypeDefChangeRequest {
            current: Some(summary(expected.type_guid, expected.type_name)),
            new: Some(summary(Some(guid), Some(new.to_owned()))),
        };
        Write::ReType(kind, name, change)
    }

    fn re_home(&mut self, _: &str) -> Write {
        let kind = self.kind();
        let name = if self.one_in(3) {
            self.name(kind)
        } else {
            match kind {
                InstanceKind::Entity => self.pick(&COPIES).to_owned(),
                InstanceKind::Relationship => self.pick(&LINK_COPIES).to_owned(),
            }
        };
        let home = self.header_of(kind, &name);
        let home = home.and_then(|header| header.audit.metadata_collection_id.clone());
        let home = match home.filter(|_| !self.random.one_in(8)) {
            Some(home) => home,
            None => self.elsewhere(),
        };
        let new = self.pick(&[HOME.0, HOME.0, ELSEWHERE[0]]).to_owned();
        let expected = self.expected(kind, &name);
        Write::ReHome(kind, name, home, new, Some("new home".to_owned()), expected)
    }

    /// The header of a copy: another repository's, some versions old.
    fn foreign(&mut self, of: TypeIndex, number: usize) -> InstanceAuditHeader {
        let mut made = Millis((self.past().0 - self.random.below(20) as i64).max(BEGIN - 50));
        let version = 1 + self.random.below(6) as i64;
        let mut changed = Millis(made.0 + self.random.below(40) as i64).min(self.naive.now);
        // Clocks of other repositories may be ahead of ours.
        if self.one_in(10) {
            changed = Millis(self.naive.now.0 + 1 + self.random.below(60) as i64);
            if self.one_in(2) {
                made = changed;
            }
        }
        let is_external = self.one_in(8);
        let is_deleted = self.one_in(10);
        let home = if self.one_in(12) {
            self.pick(&[HOME.0, ELSEWHERE[0], ELSEWHERE[1]])
        } else {
            ELSEWHERE[number % ELSEWHERE.len()]
        };
        let mut audit = InstanceAuditHeader {
            header_version: Some(1),
            instance_type: Some(self.types().get(of).instance_type().clone()),
            provenance: Some(if is_external {
                InstanceProvenanceType::ExternalSource
            } else if self.one_in(12) {
                InstanceProvenanceType::ContentPack
            } else {
                InstanceProvenanceType::LocalCohort
            }),
            metadata_collection_id: Some(home.to_owned()),
            metadata_collection_name: Some("far".to_owned()),
            replicated_by: is_external.then(|| ELSEWHERE[1].to_owned()),
            created_by: Some("carol".to_owned()),
            create_time: Some(made),
            version,
            status: Some(InstanceStatus::Active),
            ..Default::default()
        };
        if version > 1 {
            audit.update_time = Some(changed);
            audit.updated_by = Some("dave".to_owned());
            audit.maintained_by = vec!["dave".to_owned()];
        }
        if is_deleted {
            audit.status = Some(InstanceStatus::Deleted);
            audit.status_on_delete = Some(InstanceStatus::Active);
        }
        if self.one_in(3) {
            let key = RawJson::from_string("77");
            audit.mapping_properties.insert("key".to_owned(), key);
        }
        audit
    }

    fn header(&mut self, of: TypeIndex, guid: &str, number: usize) -> InstanceHeader {
        InstanceHeader {
            audit: self.foreign(of, number),
            guid: Some(guid.to_owned()),
            instance_url: Some(format!("https://far.example/{guid}")),
            re_identified_from_guid: None,
        }
    }

    /// A classification of an entity of type `of`, by another repository.
    fn foreign_classification(&mut self, of: TypeIndex) -> Classification {
        let name = self.classification_name();
        let index = self.types().by_name(&name).unwrap_or(of);
        let number = self.random.below(2);
        Classification {
            audit: self.foreign(index, number),
            properties: self.some_properties(index),
            name: Some(name),
            origin: Some(ClassificationOrigin::Assigned),
            origin_guid: None,
        }
    }

    fn far_entity(&mut self) -> EntityDetail {
        let number = self.random.below(COPIES.len());
        let guid = if self.one_in(15) {
            self.name(InstanceKind::Entity)
        } else {
            COPIES[number].to_owned()
        };
        // Each copy has a type of its own, so that the links of other lists of calls fit.
        let name = ["GlossaryTerm", "Referenceable", "Asset", "GlossaryTerm"][number];
        let of = self.type_named(name);
        let mut classifications = Vec::new();
        if self.one_in(4) {
            let mut carried = self.foreign_classification(of);
            // Now and then one that the copy says to be at home here.
            let home = if self.one_in(5) { HOME.0 } else { ELSEWHERE[0] };
            carried.audit.metadata_collection_id = Some(home.to_owned());
            classifications.push(carried);
        }
        EntityDetail {
            header: self.header(of, &guid, number),
            classifications: classifications.into(),
            properties: self.some_properties(of),
        }
    }

    /// What stands for an entity as its home knows it.
    fn as_proxy(&self, entity: &EntityDetail) -> EntityProxy {
        let of = self.type_named(entity.header.audit.type_name());
        let unique = entity.properties.as_ref();
        let unique = unique.map(|all| validate::unique_properties(self.types(), of, all));
        EntityProxy {
            header: entity.header.clone(),
            classifications: entity.classifications.clone(),
            unique_properties: unique.filter(|unique| !unique.values.is_empty()),
        }
    }

    fn add_proxy(&mut self, _: &str) -> Write {
        let entity = self.far_entity();
        Write::AddEntityProxy(self.as_proxy(&entity))
    }

    fn entity_copy(&mut self, _: &str) -> Write {
        let entity = self.far_entity();
        match self.random.below(10) {
            0 => Write::DeleteEntityCopy(entity),
            1 => Write::PurgeEntityCopy(entity),
            _ => Write::SaveEntityCopy(entity),
        }
    }

    /// An end of a copied relationship: an entity that is here, or one that is not yet.
    fn far_end(&mut self, of: TypeIndex, end: usize) -> EntityProxy {
        let name = self.fitting_end(of, end);
        let known = self.header_of(InstanceKind::Entity, &name).cloned();
        match known.filter(|_| !self.random.one_in(3)) {
            Some(header) => EntityProxy {
                header: InstanceHeader {
                    guid: Some(name),
                    ..header
                },
                ..Default::default()
            },
            None => {
                let entity = self.far_entity();
                self.as_proxy(&entity)
            }
        }
    }

    fn far_relationship(&mut self) -> Relationship {
        let number = self.random.below(LINK_COPIES.len());
        let guid = if self.one_in(15) {
            self.name(InstanceKind::Relationship)
        } else {
            LINK_COPIES[number].to_owned()
        };
        let of = self.type_named(RELATIONSHIP_TYPES[number % 2]);
        // The ends of a relationship do not change unless an entity is re-identified.
        let [one, two] = self.naive.ends(&self.names.guid(&guid));
        let one = one.unwrap_or_else(|| self.far_end(of, 0).into());
        let two = two.unwrap_or_else(|| self.far_end(of, 1).into());
        Relationship {
            header: self.header(of, &guid, number),
            properties: self.some_properties(of),
            entity_one: Some(one),
            entity_two: Some(two),
        }
    }

    fn relationship_copy(&mut self, _: &str) -> Write {
        let relationship = self.far_relationship();
        match self.random.below(10) {
            0 => Write::DeleteRelationshipCopy(relationship),
            1 => Write::PurgeRelationshipCopy(relationship),
            _ => Write::SaveRelationshipCopy(relationship),
        }
    }

    fn copy_by_id(&mut self, _: &str) -> Write {
        let kind = self.kind();
        let name = self.name(kind);
        let home = self.header_of(kind, &name);
        let home = home.and_then(|header| header.audit.metadata_collection_id.clone());
        let home = home.unwrap_or_else(|| HOME.0.to_owned());
        let expected = self.expected(kind, &name);
        if self.one_in(3) {
            return Write::RefreshCopy(kind, name, home, expected);
        }
        Write::PurgeCopyById(kind, name, home, expected)
    }

    fn classification_copy(&mut self, _: &str) -> Write {
        let name = self.name(InstanceKind::Entity);
        let of = self.type_of(InstanceKind::Entity, &name);
        let known = self.header_of(InstanceKind::Entity, &name).cloned();
        let header = known.unwrap_or_else(|| self.header(of, &name, 0));
        let entity = EntityDetail {
            header: InstanceHeader {
                guid: Some(name),
                ..header
            },
            ..Default::default()
        };
        let classification = self.foreign_classification(of);
        if self.one_in(3) {
            return Write::PurgeClassificationCopy(entity, classification);
        }
        Write::SaveClassificationCopy(entity, classification)
    }

    /// Copies of several instances, now and then two of one.
    fn copies(&mut self, _: &str) -> Write {
        let mut graph = InstanceGraphRequest::default();
        for _ in 0..self.random.below(3) {
            let new = self.far_entity();
            graph.entities.push(new);
        }
        for _ in 0..self.random.below(3) {
            let new = self.far_relationship();
            graph.relationships.push(new);
        }
        Write::SaveCopies(graph)
    }
}
