"""Data of the shape of LDBC's social network and of FinBench: tables of nodes and relationships, the same for the same seed."""

import itertools
import random

# Milliseconds since 1970: 2010-01-01 and three years later.
BEGIN, YEARS = 1_262_304_000_000, 3 * 365 * 86_400_000
FIRST = ["Jan", "Ana", "Yang", "Karl", "Otto", "Maria", "Chen", "Ali", "Rahul", "John", "Eva", "Jun", "Abdul", "Zoë"]
LAST = ["Smith", "Li", "Khan", "Sharma", "Müller", "García", "Wang", "Silva", "Kim", "Novák"]
COUNTRIES = ["India", "China", "Germany", "France", "Spain", "Brazil", "Sweden", "Kenya"]


class World:
    """Nodes by label, relationships by (type, start label, end label); each row is a dict. Nodes have an `id` that is theirs among all nodes."""

    def __init__(self, persons, seed):
        self.choices = random.Random(seed)
        self.nodes, self.relationships = {}, {}
        self.persons, self.ids = persons, itertools.count(1)
        self.places_and_tags()
        self.people()
        self.forums()
        self.finance()

    def add(self, label, **properties):
        number = next(self.ids)
        self.nodes.setdefault(label, []).append({"id": number, **properties})
        return number

    def join(self, kind, start, start_id, end, end_id, **properties):
        self.relationships.setdefault((kind, start, end), []).append({"from": start_id, "to": end_id, **properties})

    def some(self, of, most):
        return self.choices.sample(of, min(len(of), self.choices.randint(0, most)))

    def moment(self, after=BEGIN):
        return self.choices.randint(after, BEGIN + YEARS)

    def skewed(self, of):
        """One of a list; the first ones often."""
        return of[int(len(of) * self.choices.random() ** 3)]

    def places_and_tags(self):
        self.countries = [self.add("Country", name=name) for name in COUNTRIES]
        self.cities = []
        for place, country in enumerate(self.countries):
            for number in range(6):
                self.cities.append(self.add("City", name=f"City {place}-{number}"))
                self.join("IS_PART_OF", "City", self.cities[-1], "Country", country)
        self.universities = [self.add("University", name=f"University {number}") for number in range(20)]
        self.companies = [self.add("Company", name=f"Company {number}") for number in range(40)]
        for university in self.universities:
            self.join("IS_LOCATED_IN", "University", university, "City", self.choices.choice(self.cities))
        for company in self.companies:
            self.join("IS_LOCATED_IN", "Company", company, "Country", self.choices.choice(self.countries))
        classes = [self.add("TagClass", name=f"Class {number}") for number in range(12)]
        for number in range(1, 12):
            self.join("IS_SUBCLASS_OF", "TagClass", classes[number], "TagClass", classes[(number - 1) // 2])
        self.tags = [self.add("Tag", name=f"Tag {number}") for number in range(80)]
        for tag in self.tags:
            self.join("HAS_TYPE", "Tag", tag, "TagClass", self.choices.choice(classes))

    def people(self):
        self.people_ids = []
        for _ in range(self.persons):
            person = self.add("Person", firstName=self.choices.choice(FIRST), lastName=self.choices.choice(LAST), gender=self.choices.choice(["male", "female"]),
                              month=self.choices.randint(1, 12), day=self.choices.randint(1, 28), creationDate=self.moment(), browserUsed=self.choices.choice(["Firefox", "Chrome"]))
            self.people_ids.append(person)
            self.join("IS_LOCATED_IN", "Person", person, "City", self.skewed(self.cities))
            for tag in self.some(self.tags, 6):
                self.join("HAS_INTEREST", "Person", person, "Tag", tag)
            for university in self.some(self.universities, 1):
                self.join("STUDY_AT", "Person", person, "University", university, classYear=self.choices.randint(1995, 2010))
            for company in self.some(self.companies, 2):
                self.join("WORK_AT", "Person", person, "Company", company, workFrom=self.choices.randint(1998, 2012))
        known = set()
        for person in self.people_ids:
            for _ in range(self.choices.randint(1, 8)):
                other = self.skewed(self.people_ids)
                if person != other and (person, other) not in known and (other, person) not in known:
                    known.add((person, other))
                    self.join("KNOWS", "Person", person, "Person", other, creationDate=self.moment())
        self.friends = {person: [] for person in self.people_ids}
        for one, other in sorted(known):
            self.friends[one].append(other)
            self.friends[other].append(one)

    def forums(self):
        for number in range(self.persons // 4):
            made = self.moment()
            moderator = self.skewed(self.people_ids)
            forum = self.add("Forum", title=f"Forum {number}", creationDate=made)
            self.join("HAS_MODERATOR", "Forum", forum, "Person", moderator)
            members = sorted({self.skewed(self.people_ids) for _ in range(self.choices.randint(2, 20))} | {moderator})
            for member in members:
                self.join("HAS_MEMBER", "Forum", forum, "Person", member, joinDate=self.moment(made))
            tags = self.choices.sample(self.tags, 3)
            for tag in tags:
                self.join("HAS_TAG", "Forum", forum, "Tag", tag)
            for _ in range(self.choices.randint(1, 10)):
                self.thread(forum, members, tags, made)

    def message(self, label, author, made, tags):
        text = f"About {self.choices.choice(['photo', 'maybe', 'thanks', 'no', 'well'])} {made % 1000}"
        message = self.add(label, content=text, length=len(text), creationDate=made)
        self.join("HAS_CREATOR", label, message, "Person", author)
        self.join("IS_LOCATED_IN", label, message, "Country", self.choices.choice(self.countries))
        for tag in tags:
            self.join("HAS_TAG", label, message, "Tag", tag)
        for person in sorted({self.skewed(self.people_ids) for _ in range(self.choices.randint(0, 4))}):
            self.join("LIKES", "Person", person, label, message, creationDate=self.moment(made))
        return message

    def thread(self, forum, members, tags, made):
        made = self.moment(made)
        author = self.choices.choice(members)
        parent, kind = self.message("Post", author, made, self.some([*tags, self.choices.choice(self.tags)], 3)), "Post"
        self.join("CONTAINER_OF", "Forum", forum, "Post", parent)
        for _ in range(self.choices.randint(0, 5)):
            made = self.moment(made)
            friends = self.friends[author]
            writer = self.choices.choice(friends) if friends and self.choices.random() < 0.5 else self.skewed(self.people_ids)
            comment = self.message("Comment", writer, made, self.some(self.tags, 2))
            self.join("REPLY_OF", "Comment", comment, kind, parent)
            if self.choices.random() < 0.6:
                parent, kind, author = comment, "Comment", writer

    def finance(self):
        accounts = [self.add("Account", blocked=self.choices.random() < 0.1, createTime=self.moment()) for _ in range(self.persons)]
        for person, account in zip(self.people_ids, accounts):
            self.join("OWN", "Person", person, "Account", account)
            for other in self.some(self.people_ids[:60], 2):
                self.join("GUARANTEE", "Person", person, "Person", other, timestamp=self.moment())
            for company in self.some(self.companies, 2):
                self.join("INVEST", "Person", person, "Company", company, ratio=self.choices.randint(1, 100) / 100)
        for _ in range(self.persons // 10):
            medium = self.add("Medium", blocked=self.choices.random() < 0.3)
            for account in self.some(accounts, 12):
                self.join("SIGN_IN", "Medium", medium, "Account", account, timestamp=self.moment())
        for _ in range(self.persons * 5):
            self.join("TRANSFER", "Account", self.skewed(accounts), "Account", self.choices.choice(accounts), amount=self.choices.randint(1, 10_000), timestamp=self.moment())
        for _ in range(self.persons):
            self.join("TRANSFER", "Account", self.choices.choice(accounts), "Account", self.skewed(accounts), amount=self.choices.randint(1, 10_000), timestamp=self.moment())
        for _ in range(self.persons // 5):
            loan, account = self.add("Loan", amount=self.choices.randint(1000, 100_000), balance=self.choices.randint(0, 1000)), self.skewed(accounts)
            self.join("APPLY", "Person", self.choices.choice(self.people_ids), "Loan", loan)
            self.join("DEPOSIT", "Loan", loan, "Account", account, amount=self.choices.randint(100, 5000), timestamp=self.moment())
            self.join("REPAY", "Account", self.choices.choice(accounts), "Loan", loan, amount=self.choices.randint(100, 5000), timestamp=self.moment())
        self.accounts = accounts

    def parameters(self):
        """Parameters for which every question has an answer."""
        ranked = sorted(self.people_ids, key=lambda person: (-len(self.friends[person]), person))
        far = ranked[len(ranked) // 5]
        return {"person": ranked[5], "other": far, "firstName": FIRST[1], "begin": BEGIN, "middle": BEGIN + YEARS // 2, "until": BEGIN + YEARS, "countryX": COUNTRIES[0],
                "countryY": COUNTRIES[1], "country": COUNTRIES[2], "tag": "Tag 3", "class": "Class 1", "month": 5, "year": 2009, "account": self.accounts[2],
                "target": self.accounts[len(self.accounts) // 2], "amount": 500}
