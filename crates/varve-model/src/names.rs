//! Names of enumerations, as HugeGraph's REST API, messages and stored records write them; here
//! those of the schema's enumerations.

use crate::schema::{
    AggregateType, EdgeLabelType, Frequency, IdStrategy, IndexType, SchemaStatus, WriteType,
};
use crate::value::{Cardinality, DataType};

/// Gives an enumeration, which must be `Copy`, its names: `ALL` (in the order of the list), `name`,
/// `from_name` and `Display`.
#[macro_export]
macro_rules! names {
    ($type:ident, $what:literal: $($variant:ident = $name:literal),+ $(,)?) => {
        impl $type {
            #[doc = concat!("Every ", $what, ".")]
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            #[doc = concat!("The name of this ", $what, ".")]
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }

            #[doc = concat!("The ", $what, " of that name.")]
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|each| each.name() == name)
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

names! { DataType, "data type":
    Object = "OBJECT", Boolean = "BOOLEAN", Byte = "BYTE", Int = "INT", Long = "LONG", Float = "FLOAT",
    Double = "DOUBLE", Text = "TEXT", Blob = "BLOB", Date = "DATE", Uuid = "UUID",
}
names! { Cardinality, "cardinality": Single = "SINGLE", List = "LIST", Set = "SET" }
names! { AggregateType, "aggregate type":
    None = "NONE", Max = "MAX", Min = "MIN", Sum = "SUM", Old = "OLD", Set = "SET", List = "LIST",
}
names! { WriteType, "write type":
    Oltp = "OLTP", OlapCommon = "OLAP_COMMON", OlapSecondary = "OLAP_SECONDARY", OlapRange = "OLAP_RANGE",
}
names! { SchemaStatus, "status":
    Created = "CREATED", Creating = "CREATING", Rebuilding = "REBUILDING", Deleting = "DELETING",
    Undeleted = "UNDELETED", Invalid = "INVALID", Removed = "REMOVED",
}
names! { IdStrategy, "id strategy":
    Automatic = "AUTOMATIC", PrimaryKey = "PRIMARY_KEY", CustomizeString = "CUSTOMIZE_STRING",
    CustomizeNumber = "CUSTOMIZE_NUMBER", CustomizeUuid = "CUSTOMIZE_UUID",
}
names! { EdgeLabelType, "edge label type": Normal = "NORMAL", Parent = "PARENT", Sub = "SUB" }
names! { Frequency, "frequency": Single = "SINGLE", Multiple = "MULTIPLE" }
names! { IndexType, "index type":
    Secondary = "SECONDARY", Range = "RANGE", Search = "SEARCH", Shard = "SHARD", Unique = "UNIQUE",
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_reads_back() {
        for each in DataType::ALL {
            assert_eq!(DataType::from_name(each.name()), Some(*each));
        }
        for each in SchemaStatus::ALL {
            assert_eq!(SchemaStatus::from_name(&each.to_string()), Some(*each));
        }
        assert_eq!(DataType::from_name("text"), None);
        assert_eq!(IndexType::from_name("RANGE_INT"), None);
    }
}
