//! Declares a section of the configuration once: the options, their documentation and their
//! defaults.
//!
//! The struct, its `Default`, and the text that `varve config` prints all come from one list, so
//! the printed documentation cannot fall behind the code.

/// One documented option of a section.
#[derive(Debug, Clone, Copy)]
pub struct OptionDoc {
    /// The key within its section.
    pub name: &'static str,
    /// The documentation of the option, with its unit and its bounds.
    pub text: &'static str,
}

/// Declares a configuration section: a struct that refuses unknown keys, its `Default` and its
/// `DOCS`. The options come first. A field that is a section within this one follows, marked `@`.
/// Last come fields marked `%`: sections of their own that this struct only carries, and serde
/// skips.
#[macro_export]
macro_rules! section {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $( $(#[doc = $doc:literal])+ $option:ident : $kind:ty = $default:expr, )*
            $( @ $(#[doc = $inner_doc:literal])+ $inner:ident : $inner_kind:ty, )*
            $( % $(#[doc = $beside_doc:literal])+ $beside:ident : $beside_kind:ty, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, PartialEq, serde::Deserialize, serde::Serialize)]
        #[serde(default, deny_unknown_fields)]
        $vis struct $name {
            $( $(#[doc = $doc])+ $vis $option: $kind, )*
            $( $(#[doc = $inner_doc])+ $vis $inner: $inner_kind, )*
            $( $(#[doc = $beside_doc])+ #[serde(skip)] $vis $beside: $beside_kind, )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    $( $option: $default, )*
                    $( $inner: <$inner_kind>::default(), )*
                    $( $beside: <$beside_kind>::default(), )*
                }
            }
        }

        impl $name {
            /// The options in the order of declaration.
            $vis const DOCS: &'static [$crate::OptionDoc] = &[
                $( $crate::OptionDoc {
                    name: stringify!($option),
                    text: concat!($($doc, "\n"),+),
                }, )*
            ];
        }
    };
}
