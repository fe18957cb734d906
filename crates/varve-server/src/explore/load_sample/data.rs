//! The people, cities and companies of the sample, and who was where when.

/// Name and year of birth.
pub(super) const PEOPLE: &[(&str, i32)] = &[
    ("Ann", 1988),
    ("Ben", 1991),
    ("Chloe", 1985),
    ("Dora", 1979),
    ("Emil", 1994),
    ("Fatima", 1990),
    ("Goran", 1982),
    ("Hana", 1996),
    ("Ivan", 1987),
    ("Jun", 1993),
    ("Karin", 1976),
    ("Liam", 1992),
    ("Mei", 1989),
    ("Nora", 1984),
    ("Omar", 1995),
    ("Pia", 1981),
    ("Quinn", 1990),
    ("Rosa", 1978),
    ("Sven", 1986),
    ("Tara", 1997),
    ("Umut", 1983),
    ("Vera", 1991),
];

/// Name and country.
pub(super) const CITIES: &[(&str, &str)] = &[
    ("Berlin", "Germany"),
    ("Lisbon", "Portugal"),
    ("Lyon", "France"),
    ("Milan", "Italy"),
    ("Oslo", "Norway"),
    ("Rome", "Italy"),
    ("Shanghai", "China"),
    ("Vienna", "Austria"),
    ("Zagreb", "Croatia"),
];

/// Name, field, employees in 2015, and city.
pub(super) const COMPANIES: &[(&str, &str, i32, &str)] = &[
    ("Bluewave", "shipping", 40, "Rome"),
    ("Kranich", "paper", 210, "Berlin"),
    ("Lumen", "lighting", 95, "Milan"),
    ("Nordlicht", "energy", 320, "Oslo"),
    ("Ostra", "food", 60, "Lisbon"),
    ("Tongji", "software", 150, "Shanghai"),
];

/// A company that has grown: name, field, employees, and since when.
pub(super) const SIZES: (&str, &str, i32, &str) = ("Bluewave", "shipping", 120, "2024-01-01");

/// Who lives where, from when, and until when; empty: until further notice.
pub(super) const LIVES: &[(&str, &str, &str, &str)] = &[
    ("Ann", "Rome", "2020-01-01", "2022-05-01"),
    ("Ann", "Milan", "2022-05-01", ""),
    ("Ben", "Rome", "2020-01-01", ""),
    ("Chloe", "Lyon", "2020-01-01", "2021-09-01"),
    ("Chloe", "Berlin", "2021-09-01", ""),
    ("Dora", "Lisbon", "2020-01-01", ""),
    ("Emil", "Vienna", "2020-01-01", "2023-03-01"),
    ("Emil", "Zagreb", "2023-03-01", ""),
    ("Fatima", "Lyon", "2020-01-01", ""),
    ("Goran", "Zagreb", "2020-01-01", ""),
    ("Hana", "Shanghai", "2020-01-01", "2024-02-01"),
    ("Hana", "Milan", "2024-02-01", ""),
    ("Ivan", "Zagreb", "2020-01-01", "2022-10-01"),
    ("Ivan", "Oslo", "2022-10-01", ""),
    ("Jun", "Shanghai", "2020-01-01", ""),
    ("Karin", "Oslo", "2020-01-01", ""),
    ("Liam", "Lisbon", "2020-01-01", "2023-07-01"),
    ("Liam", "Rome", "2023-07-01", ""),
    ("Mei", "Shanghai", "2020-01-01", "2021-04-01"),
    ("Mei", "Berlin", "2021-04-01", ""),
    ("Nora", "Berlin", "2020-01-01", ""),
    ("Omar", "Milan", "2021-01-01", ""),
    ("Pia", "Vienna", "2020-01-01", ""),
    ("Quinn", "Lisbon", "2020-06-01", ""),
    ("Rosa", "Rome", "2020-01-01", ""),
    ("Sven", "Oslo", "2020-01-01", "2024-11-01"),
    ("Sven", "Berlin", "2024-11-01", ""),
    ("Tara", "Lyon", "2021-09-01", ""),
    ("Umut", "Berlin", "2020-01-01", ""),
    ("Vera", "Vienna", "2020-01-01", "2026-01-01"),
    ("Vera", "Shanghai", "2026-01-01", ""),
];

/// Who works where as what, from when, and until when.
pub(super) const WORKS: &[(&str, &str, &str, &str, &str)] = &[
    ("Ann", "Bluewave", "planner", "2020-01-01", "2022-05-01"),
    ("Ann", "Lumen", "head of planning", "2022-05-01", ""),
    ("Ben", "Bluewave", "analyst", "2021-03-01", ""),
    ("Chloe", "Kranich", "buyer", "2021-09-01", ""),
    ("Dora", "Ostra", "director", "2020-01-01", ""),
    ("Fatima", "Lumen", "designer", "2022-01-01", ""),
    ("Goran", "Nordlicht", "adviser", "2020-01-01", "2023-12-31"),
    ("Hana", "Tongji", "developer", "2020-01-01", "2024-02-01"),
    ("Hana", "Lumen", "developer", "2024-02-01", ""),
    ("Ivan", "Nordlicht", "engineer", "2022-10-01", ""),
    ("Jun", "Tongji", "founder", "2020-01-01", ""),
    ("Karin", "Nordlicht", "director", "2020-01-01", ""),
    ("Liam", "Ostra", "cook", "2020-01-01", "2023-07-01"),
    ("Liam", "Bluewave", "captain", "2023-07-01", ""),
    ("Mei", "Tongji", "tester", "2020-01-01", "2021-04-01"),
    ("Mei", "Kranich", "engineer", "2021-04-01", ""),
    ("Nora", "Kranich", "director", "2020-01-01", ""),
    ("Omar", "Lumen", "electrician", "2021-01-01", ""),
    ("Quinn", "Ostra", "buyer", "2020-06-01", ""),
    ("Rosa", "Bluewave", "director", "2020-01-01", ""),
    ("Sven", "Nordlicht", "engineer", "2020-01-01", "2024-11-01"),
    ("Sven", "Kranich", "engineer", "2024-11-01", ""),
    ("Umut", "Kranich", "printer", "2020-01-01", "2026-06-01"),
    ("Vera", "Tongji", "developer", "2026-01-01", ""),
];

/// Who knows whom since when.
pub(super) const KNOWS: &[(&str, &str, &str)] = &[
    ("Ann", "Ben", "2020-03-01"),
    ("Ann", "Rosa", "2020-01-01"),
    ("Ann", "Hana", "2024-03-01"),
    ("Ben", "Liam", "2023-08-01"),
    ("Chloe", "Fatima", "2020-01-01"),
    ("Chloe", "Nora", "2021-10-01"),
    ("Dora", "Quinn", "2020-07-01"),
    ("Dora", "Karin", "2025-05-01"),
    ("Emil", "Pia", "2020-01-01"),
    ("Emil", "Goran", "2023-04-01"),
    ("Goran", "Ivan", "2020-01-01"),
    ("Hana", "Jun", "2020-01-01"),
    ("Ivan", "Sven", "2022-11-01"),
    ("Karin", "Sven", "2020-01-01"),
    ("Mei", "Jun", "2020-01-01"),
    ("Mei", "Nora", "2021-05-01"),
    ("Omar", "Fatima", "2022-02-01"),
    ("Umut", "Nora", "2020-01-01"),
    ("Vera", "Pia", "2020-01-01"),
    ("Tara", "Fatima", "2021-10-01"),
];
