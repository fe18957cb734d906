//! Data sets of own making, in the shapes that public ones have.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// A data set: its files.
pub(crate) struct Set {
    /// Names and contents.
    pub(crate) files: Vec<(&'static str, Vec<u8>)>,
}

impl Set {
    fn of(files: Vec<(&'static str, String)>) -> Self {
        let files = files
            .into_iter()
            .map(|(name, text)| (name, text.into_bytes()));
        Self {
            files: files.collect(),
        }
    }

    /// Writes the files into a folder.
    #[allow(dead_code, reason = "not every test has files")]
    pub(crate) fn write(&self, folder: &Path) -> Vec<PathBuf> {
        let write = |(name, bytes): &(&str, Vec<u8>)| {
            let path = folder.join(name);
            std::fs::write(&path, bytes).expect("written");
            path
        };
        self.files.iter().map(write).collect()
    }
}

/// A file with a header and a line for each number.
fn table(
    header: &str,
    numbers: impl Iterator<Item = usize>,
    row: impl Fn(usize) -> String,
) -> String {
    let mut text = format!("{header}\n");
    for number in numbers {
        let _ = writeln!(text, "{}", row(number));
    }
    text
}

fn letter(number: usize) -> char {
    char::from(b'A' + u8::try_from(number % 26).unwrap_or(0))
}

/// A trade: tables with keys of their own, whose ids meet, with references and a table of two.
pub(crate) fn trade() -> Set {
    let categories = table("CategoryID,CategoryName,Description", 1..=8, |n| {
        format!("{n},Category {n},\"Sweets, \"\"no. {n}\"\"\"")
    });
    let suppliers = table("SupplierID,CompanyName,Country", 1..=29, |n| {
        format!("{n},Supplier {n},{}", ["UK", "USA", "Japan"][n % 3])
    });
    let header = "ProductID,ProductName,SupplierID,CategoryID,UnitPrice,UnitsInStock,Discontinued";
    let products = table(header, 1..=77, |n| {
        let (supplier, category) = (n % 29 + 1, n % 8 + 1);
        let (stock, ended) = (n * 2, n % 7 == 0);
        format!("{n},Product {n},{supplier},{category},{n}.5,{stock},{ended}")
    });
    let customer = |n: usize| format!("{}{}{}KI", letter(n / 26), letter(n), letter(n * 7));
    let customers = table("CustomerID,CompanyName,ContactName,Country", 0..91, |n| {
        let country = ["UK", "France"][n % 2];
        format!("{},Customer {n},Contact {n},{country}", customer(n))
    });
    let header = "EmployeeID,LastName,FirstName,HireDate,ReportsTo";
    let employees = table(header, 1..=9, |n| {
        let boss = ["2", "NULL", "2", "2", "2", "5", "5", "2", "5"][n - 1];
        format!("{n},Last {n},First {n},1992-0{n}-01 00:00:00.000,{boss}")
    });
    let shippers = table("ShipperID,CompanyName,Phone", 1..=3, |n| {
        format!("{n},Shipper {n},(503) 555-983{n}")
    });
    let header = "OrderID,CustomerID,EmployeeID,OrderDate,ShippedDate,ShipVia,Freight";
    let orders = table(header, 0..830, |n| {
        let day = format!("{:02}-{:02}", n % 12 + 1, n % 28 + 1);
        let shipped = match n % 20 {
            0 => "NULL".to_owned(),
            _ => format!("1997-{day}"),
        };
        let (order, customer, employee, shipper) =
            (10_248 + n, customer(n % 91), n % 9 + 1, n % 3 + 1);
        format!("{order},{customer},{employee},1996-{day},{shipped},{shipper},{n}.25")
    });
    let header = "OrderID,ProductID,UnitPrice,Quantity,Discount";
    let details = table(header, 0..2155, |n| {
        let (order, product) = (10_248 + n % 830, (n / 830 * 25 + n) % 77 + 1);
        let (quantity, discount) = (n % 50 + 1, n % 6);
        format!("{order},{product},{product}.5,{quantity},0.0{discount}")
    });
    Set::of(vec![
        ("categories.csv", categories),
        ("suppliers.csv", suppliers),
        ("products.csv", products),
        ("customers.csv", customers),
        ("employees.csv", employees),
        ("shippers.csv", shippers),
        ("orders.csv", orders),
        ("order_details.csv", details),
    ])
}

/// A social network: users, posts, who follows whom, who likes what.
pub(crate) fn social() -> Set {
    let users = table("id\tname\tage\tcity\tjoined", 1..=200, |n| {
        let (age, city) = (18 + n % 50, ["Rome", "Oslo"][n % 2]);
        format!(
            "{n}\tUser {n}\t{age}\t{city}\t{}/{}/2019",
            n % 28 + 1,
            n % 12 + 1
        )
    });
    let mut posts = String::new();
    for n in 1..=300 {
        let tags = ["a", "b", "c"][..n % 3 + 1].join("\",\"");
        let (author, likes) = (n % 200 + 1, n % 17);
        let _ = writeln!(
            posts,
            "{{\"id\":\"p{n}\",\"author_id\":{author},\"text\":\"Post {n}\",\"likes\":{likes},\
             \"tags\":[\"{tags}\"]}}"
        );
    }
    let follows = table("follower,followee,weight", 0..1000, |n| {
        let other = (n * 7 + n / 200 * 3 + 1) % 200 + 1;
        format!("{},{other},{}.5", n % 200 + 1, n % 5)
    });
    let likes = table("user_id,post_id,liked_at", 0..600, |n| {
        let post = (n * 11 + n / 200) % 300 + 1;
        format!("{},p{post},{}", n % 200 + 1, 1_600_000_000_000 + n * 60_000)
    });
    Set::of(vec![
        ("users.tsv", users),
        ("posts.jsonl", posts),
        ("follows.csv", follows),
        ("likes.csv", likes),
    ])
}

/// Flights: airports, which routes name by their codes and not by their ids, and airlines.
pub(crate) fn flights() -> Set {
    let code = |n: usize| format!("{}{}X", letter(n), letter(n / 26));
    let header = "id,name,city,country,iata,latitude,longitude,altitude";
    let airports = table(header, 1..=120, |n| {
        let (city, country, code) = (n % 90, n % 9, code(n));
        let (latitude, longitude, altitude) = (n % 90, n % 180, n * 10);
        format!(
            "{n},Airport {n},City {city},C{country},{code},{latitude}.25,-{longitude}.75,{altitude}"
        )
    });
    let airlines = table("code,name,active", 0..12, |n| {
        format!("{}L,Airline {n},{}", letter(n), n % 2 == 0)
    });
    let header = "airline,source_airport,destination_airport,stops,equipment,distance";
    let routes = table(header, 0..900, |n| {
        let (from, to) = (code(n % 120 + 1), code((n * 17 + 5) % 120 + 1));
        let (airline, equipment) = (letter(n / 120), ["320", "738 73G", ""][n % 3]);
        format!("{airline}L,{from},{to},{},{equipment},{}", n % 2, n * 10)
    });
    Set::of(vec![
        ("airports.csv", airports),
        ("airlines.csv", airlines),
        ("routes.csv", routes),
    ])
}

/// A sample like that of a benchmark of social networks: bars, names of both ends, parts.
pub(crate) fn benchmark() -> Set {
    let at = |n: usize| format!("2010-{:02}-{:02}T15:32:10.447+0000", n % 12 + 1, n % 28 + 1);
    let person = |n: usize| 933 + n % 100 * 1000;
    let header = "id|firstName|lastName|gender|birthday|creationDate|locationIP|browserUsed";
    let persons = |from: usize| {
        table(header, from..from + 50, |n| {
            let (id, gender, at) = (person(n), ["male", "female"][n % 2], at(n));
            let birthday = format!("198{}-0{}-01", n % 10, n % 9 + 1);
            format!("{id}|First|Last {n}|{gender}|{birthday}|{at}|1.2.3.{n}|Firefox")
        })
    };
    let places = table("id|name|url|type", 0..20, |n| {
        let kind = ["city", "country"][n % 2];
        format!("{n}|Place_{n}|http://example.org/Place_{n}|{kind}")
    });
    let located = table("Person.id|Place.id", 0..100, |n| {
        format!("{}|{}", person(n), n % 20)
    });
    let knows = table("Person.id|Person.id|creationDate", 0..300, |n| {
        let other = person(n + 1 + n / 100 * 5);
        format!("{}|{other}|{}", person(n), at(n))
    });
    let emails = table("Person.id|email", 0..150, |n| {
        format!("{}|{n}@example.org", person(n))
    });
    let comment = |n: usize| 1_000_000_000_000 + n;
    let comments = table("id|creationDate|content|length", 0..80, |n| {
        format!("{}|{}|Text {n}|{n}", comment(n), at(n))
    });
    let creators = table("Comment.id|Person.id", 0..80, |n| {
        format!("{}|{}", comment(n), person(n))
    });
    Set::of(vec![
        ("person_0_0.csv", persons(0)),
        ("person_1_0.csv", persons(50)),
        ("place_0_0.csv", places),
        ("person_isLocatedIn_place_0_0.csv", located),
        ("person_knows_person_0_0.csv", knows),
        ("person_email_emailaddress_0_0.csv", emails),
        ("comment_0_0.csv", comments),
        ("comment_hasCreator_person_0_0.csv", creators),
    ])
}

/// People, companies and jobs: dates in two formats, semicolons, one file packed.
pub(crate) fn temporal() -> Set {
    let people = table("id;name;born;height", 1..=60, |n| {
        let (day, month, year) = (n % 28 + 1, n % 12 + 1, 50 + n % 50);
        format!("{n};Person {n};{day}.{month}.19{year};1,{}", 50 + n % 40)
    });
    let companies = table("company_id;name;city;employees", 1..=12, |n| {
        let employees = match n % 5 {
            0 => "N/A".to_owned(),
            _ => (n * 100).to_string(),
        };
        format!("c{n};Company {n};\"City; no. {n}\";{employees}")
    });
    // The first sixty begin in 2015, the others when those have ended.
    let jobs = table("person_id;company_id;role;from;to;salary", 0..100, |n| {
        let (person, company) = (n % 60 + 1, (n * 5 + n / 60) % 12 + 1);
        let (from, to) = match n < 60 {
            true => {
                let from = format!("2015-{:02}-15", n % 12 + 1);
                (from, format!("31.05.20{}", 19 + n % 2))
            }
            false => (format!("2021-0{}-01", n % 5 + 1), String::new()),
        };
        let (role, salary) = (["engineer", "manager"][n % 2], 30_000 + n * 10);
        format!("{person};c{company};{role};{from};{to};{salary}")
    });
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(jobs.as_bytes()).expect("packed");
    let mut set = Set::of(vec![("people.csv", people), ("companies.csv", companies)]);
    let packed = packed.finish().expect("packed");
    set.files.push(("jobs.csv.gz", packed));
    set
}
