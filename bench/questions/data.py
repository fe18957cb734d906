"""Writes a social network as CSV files: persons, the cities, states and countries they live in, what
they are interested in, and whom they follow. Every run with the same numbers writes the same files.

    data.py FOLDER [--persons 100000] [--follows 24] [--seed 42]

`--follows` is the mean number of persons that a person follows. A few persons have very many followers,
as in real networks: the share of the person at rank r falls with r to the power of 0.6.
"""

import argparse
import csv
import datetime
import itertools
import os
import random

COUNTRIES = ["United States", "United Kingdom", "Canada"]
CITIES = 7117
STATES = 273
INTERESTS = [
    "Fine Dining", "Tennis", "Photography", "Cycling", "Hiking", "Chess", "Opera", "Jazz", "Sailing",
    "Gardening", "Running", "Yoga", "Painting", "Pottery", "Poetry", "History", "Astronomy", "Baking",
    "Bird Watching", "Board Games", "Camping", "Climbing", "Cooking", "Dancing", "Drawing", "Fishing",
    "Football", "Golf", "Knitting", "Museums", "Origami", "Philosophy", "Piano", "Puzzles", "Reading",
    "Skiing", "Surfing", "Swimming", "Theatre", "Travelling", "Woodwork",
]
TODAY = datetime.date(2026, 1, 1)


def write(folder, name, header, rows):
    with open(os.path.join(folder, f"{name}.csv"), "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def places(folder, choices):
    """Writes cities, states and countries; returns the ids of the cities."""
    write(folder, "countries", ["id", "country"], enumerate(COUNTRIES, 1))
    states = range(1, STATES + 1)
    write(folder, "states", ["id", "state", "country"],
          ((state, f"State {state}", COUNTRIES[state % 3]) for state in states))
    write(folder, "state_in", ["from", "to"], ((state, state % 3 + 1) for state in states))
    of = {city: choices.randint(1, STATES) for city in range(1, CITIES + 1)}
    name = {city: f"City {city}" for city in of}
    name[1] = "London"
    of[1] = 1
    write(folder, "cities", ["id", "city", "state", "country", "population"],
          ((city, name[city], f"State {state}", COUNTRIES[state % 3], choices.randint(10_000, 5_000_000))
           for city, state in of.items()))
    write(folder, "city_in", ["from", "to"], of.items())
    return list(of)


def persons(folder, choices, count, cities):
    """Writes persons, where they live and their interests."""
    write(folder, "interests", ["id", "interest"], enumerate(INTERESTS, 1))
    rows, lives, likes = [], [], []
    weights = list(itertools.accumulate(1 / rank ** 0.5 for rank in range(1, len(cities) + 1)))
    for person in range(1, count + 1):
        birthday = TODAY - datetime.timedelta(days=choices.randint(18 * 365, 75 * 365))
        age = (TODAY - birthday).days // 365
        gender = choices.choice(["male", "female"])
        rows.append((person, f"Person {person}", gender, birthday.isoformat(), age, choices.random() < 0.5))
        lives.append((person, choices.choices(cities, cum_weights=weights)[0]))
        likes.extend((person, interest) for interest in choices.sample(range(1, len(INTERESTS) + 1), choices.randint(1, 4)))
    write(folder, "persons", ["id", "name", "gender", "birthday", "age", "married"],
          (row[:5] + (str(row[5]).lower(),) for row in rows))
    write(folder, "lives_in", ["from", "to"], lives)
    write(folder, "has_interest", ["from", "to"], likes)


def follows(folder, choices, count, mean):
    """Writes who follows whom, each pair once."""
    ranks = list(range(1, count + 1))
    choices.shuffle(ranks)
    weights = list(itertools.accumulate(1 / rank ** 0.6 for rank in range(1, count + 1)))

    def rows():
        for person in range(1, count + 1):
            wanted = min(count - 1, max(1, round(choices.expovariate(1 / mean))))
            drawn = choices.choices(ranks, cum_weights=weights, k=wanted)
            for other in sorted(set(drawn) - {person}):
                yield person, other

    write(folder, "follows", ["from", "to"], rows())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--persons", type=int, default=100_000)
    parser.add_argument("--follows", type=float, default=24)
    parser.add_argument("--seed", type=int, default=42)
    given = parser.parse_args()
    os.makedirs(given.folder, exist_ok=True)
    choices = random.Random(given.seed)
    cities = places(given.folder, choices)
    persons(given.folder, choices, given.persons, cities)
    follows(given.folder, choices, given.persons, given.follows)


main()
