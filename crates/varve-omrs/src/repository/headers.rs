//! Headers of new and changed instances.
