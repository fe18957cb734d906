"""Random expressions over awkward values: every operator and function, mostly with arguments of the types that they take."""

from values import GROUPS, POOL, literal

# Text with a place for each argument, then the types of the arguments.
OPERATIONS = """
{} + {} | int int; num num; str str; str any; any str; list list; list any; any list; day duration; temporal duration; duration temporal; duration duration; any any
{} - {} | int int; num num; temporal duration; duration duration; any any
{} * {} | int int; num num; duration num; num duration; any any
{} / {} | int int; num num; duration num; any any
{} % {} | int int; num num; any any
{} ^ {} | num num; any any
- {} | num; any
+ {} | num
{} || {} | str str; list list; any any
{} = {} | num num; any any; list list; map map; temporal temporal; duration duration; point point; str str
{} <> {} | num num; any any; list list; map map
{} < {} | num num; any any; list list; str str; temporal temporal; duration duration; point point; bool bool; date date; datetime datetime; time time; localtime localtime; localdatetime localdatetime
{} <= {} | num num; any any; list list; str str; bool bool; duration duration; datetime datetime; time time
{} > {} | num num; any any; list list; date date
{} >= {} | num num; any any; bool bool; point point
{} < {} < {} | num num num; any any any
{} = {} = {} | num num num
{} AND {} | bool bool; bool null; any any
{} OR {} | bool bool; bool null; any any
{} XOR {} | bool bool; bool null; any any
NOT {} | bool; null; any
{} IS NULL | any
{} IS NOT NULL | any
{} IN {} | any list; num list; any any
{} STARTS WITH {} | str str; any any
{} ENDS WITH {} | str str
{} CONTAINS {} | str str; any str
{} =~ {} | str str; any any
({})[{}] | list int; list num; map str; any any
({})[{}..{}] | list int int; list num num; any any any
({})[{}..] | list int
({})[..{}] | list int
({}).a | map; any
CASE {} WHEN {} THEN {} ELSE {} END | any any any any; num num any any
CASE WHEN {} THEN {} ELSE {} END | bool any any; any any any
CASE WHEN {} THEN {} END | bool any
[x IN {} WHERE x > {} | x] | list any; list num
[x IN {} | x + {}] | list any; list num
all(x IN {} WHERE x = {}) | list any; list num; list null
any(x IN {} WHERE x = {}) | list any; list num; list null
none(x IN {} WHERE x > {}) | list any; list num
single(x IN {} WHERE x < {}) | list any; list num
reduce(s = {}, x IN {} | s + x) | int list; str list; any list
{} IS :: INTEGER | any
{} IS :: FLOAT NOT NULL | any
{} IS :: LIST<INTEGER> | list; any
{} IS :: LIST<ANY> | list
{} IS :: STRING | any
{} IS NOT :: ZONED DATETIME | temporal; any
{} IS :: BOOLEAN \\| INTEGER | any
{} IS :: ANY NOT NULL | any
{} IS :: MAP | any
{} IS :: POINT | any
{} IS :: NOTHING | any
abs({}) | int; num; any
ceil({}) | num; any
floor({}) | num
round({}) | num; any
round({}, {}) | num int; any any
round({}, {}, 'HALF_EVEN') | num int
round({}, {}, 'HALF_DOWN') | num int
round({}, {}, 'UP') | num int
round({}, {}, 'FLOOR') | num int
sign({}) | num; any
sqrt({}) | num
exp({}) | num
log({}) | num
log10({}) | num
isNaN({}) | num; any
sin({}) | num
cot({}) | num
asin({}) | num
atan2({}, {}) | num num
degrees({}) | num
radians({}) | num
haversin({}) | num
toInteger({}) | str; num; bool; any
toFloat({}) | str; num; bool; any
toBoolean({}) | str; bool; int; any
toString({}) | float; float; int; str; bool; temporal; duration; duration; point; any
toIntegerOrNull({}) | str; num; any
toFloatOrNull({}) | str; any
toBooleanOrNull({}) | str; any
toStringOrNull({}) | any; duration
toIntegerList({}) | list; any
toFloatList({}) | list; any
toBooleanList({}) | list; any
toStringList({}) | list; any
valueType({}) | any; list; map
coalesce({}, {}) | null any; any any
nullIf({}, {}) | any any; num num
size({}) | str; list; any; map
length({}) | any
isEmpty({}) | str; list; map; any
head({}) | list; any
last({}) | list
tail({}) | list
reverse({}) | list; str; any
range({}, {}) | small small; any any
range({}, {}, {}) | small small small; any any any
keys({}) | map; any
properties({}) | map; any
left({}, {}) | str small; any any
right({}, {}) | str small
substring({}, {}) | str small; any any
substring({}, {}, {}) | str small small
replace({}, {}, {}) | str str str; any any any
split({}, {}) | str str; str list; any any
toUpper({}) | str; any
toLower({}) | str
trim({}) | str
ltrim({}) | str
rtrim({}) | str
btrim({}) | str
btrim({}, {}) | str str
ltrim({}, {}) | str str
rtrim({}, {}) | str str
char_length({}) | str; any
date({}) | datestr; temporal; datemap; any
time({}) | timestr; temporal; timemap; any
localtime({}) | timestr; temporal; timemap
datetime({}) | datetimestr; temporal; datetimemap; any
localdatetime({}) | datetimestr; temporal; datetimemap
date({{date: {}, day: {}}}) | temporal small
date({{date: {}, week: {}}}) | day small
date({{year: {}, month: {}, day: {}}}) | year small small; any any any
date({{year: {}, week: {}, dayOfWeek: {}}}) | year small small
date({{year: {}, quarter: {}, dayOfQuarter: {}}}) | year small small
date({{year: {}, ordinalDay: {}}}) | year small
datetime({{datetime: {}, timezone: {}}}) | day zone
datetime({{date: {}, time: {}}}) | day temporal
datetime({{date: {}, time: {}, timezone: {}}}) | day temporal zone
datetime({{year: {}, hour: {}, timezone: {}}}) | year small zone
datetime({{epochSeconds: {}, nanosecond: {}}}) | int small
datetime({{epochMillis: {}}}) | int
localdatetime({{datetime: {}, second: {}}}) | day small
time({{time: {}, timezone: {}}}) | temporal zone
time({{hour: {}, minute: {}, second: {}, millisecond: {}, microsecond: {}}}) | small small small small small
localtime({{time: {}, minute: {}}}) | temporal small
localtime({{hour: {}, nanosecond: {}}}) | small int
date.truncate({}, {}) | unit temporal; unit day; any any
datetime.truncate({}, {}) | unit day; unit temporal
datetime.truncate({}, {}, {{timezone: {}}}) | unit day zone
localdatetime.truncate({}, {}) | unit day
localdatetime.truncate({}, {}, {{day: {}, nanosecond: {}}}) | unit day small small
time.truncate({}, {}) | unit temporal
localtime.truncate({}, {}, {{millisecond: {}}}) | unit temporal small
date.truncate({}, {}, {{dayOfWeek: {}}}) | unit day small
duration({}) | durationstr; durationstr; durationmap; any; duration
duration.between({}, {}) | temporal temporal; day day; datetime datetime; any any
duration.inMonths({}, {}) | temporal temporal; day day
duration.inDays({}, {}) | temporal temporal; day day
duration.inSeconds({}, {}) | temporal temporal; day day; datetime localdatetime
({}).{{{{part}}}} | temporal; temporal; duration; point; any
datetime.fromepoch({}, {}) | int int
datetime.fromepochmillis({}) | int; any
point({}) | pointmap; pointmap; any
point.distance({}, {}) | point point; any any
point.withinBBox({}, {}, {}) | point point point
"""
PARTS = """year quarter month week weekYear dayOfQuarter quarterDay day ordinalDay dayOfWeek weekDay hour minute second millisecond microsecond nanosecond timezone
offset offsetMinutes offsetSeconds epochMillis epochSeconds years quarters months weeks days hours minutes seconds milliseconds microseconds nanoseconds
quartersOfYear monthsOfQuarter monthsOfYear daysOfWeek minutesOfHour secondsOfMinute millisecondsOfSecond microsecondsOfSecond nanosecondsOfSecond
x y z longitude latitude height srid crs nothing""".split()
# Arguments that one function takes, beside the types of values.
SPECIAL = {
    "small": ["0", "1", "2", "3", "5", "12", "29", "31", "-1", "null"],
    "year": ["1984", "2020", "0", "-1", "9999", "2021"],
    "zone": ["'Z'", "'+01:00'", "'Europe/Stockholm'", "'America/Los_Angeles'", "'-03:30'", "'+18:00'", "'UTC'", "'nowhere'", "'Asia/Kathmandu'"],
    "unit": [f"'{unit}'" for unit in "millennium century decade year weekYear quarter month week day hour minute second millisecond microsecond".split()],
    "datestr": ["'2015-07-21'", "'20150721'", "'2015-07'", "'201507'", "'2015-W30-2'", "'2015W302'", "'2015-W30'", "'2015-Q2-60'", "'2015-Q2'", "'2015-202'",
                "'2015202'", "'2015'", "'2015-02-30'", "'+12015-01-01'", "'-0044-03-15'", "'15-1-1'", "'2015-W53-1'", "''", "'2015-07-21T10:00'"],
    "timestr": ["'21:40:32.142+0100'", "'214032.142Z'", "'21:40:32+01:00'", "'21:40-01:30'", "'2140+00'", "'21Z'", "'21:40'", "'24:00'", "'21:40:32.1234567891'",
                "'T21:40'", "'21:40[Europe/Stockholm]'"],
    "datetimestr": ["'2015-07-21T21:40:32.142+0100'", "'2015-W30-2T214032.142Z'", "'2015T214032-0100'", "'20150721T21:40-01:30'", "'2015-W30T2140-02'", "'2015202T21+18:00'",
                    "'2015-07-21T21:40:32.142[Europe/London]'", "'2015-07-21T21:40:32.142-04[America/New_York]'", "'2015-07-21'", "'2015-07-21T21:40'",
                    "'2021-03-28T02:30+03:00[Europe/Stockholm]'", "'2015-07-21 21:40'", "'+999999-01-01T00:00Z'"],
    "durationstr": ["'P14DT16H12M'", "'P5M1.5D'", "'P0.75M'", "'PT0.75M'", "'P2.5W'", "'P12Y5M14DT16H12M70S'", "'P2012-02-02T14:37:21.545'", "'-P1Y'", "'P-1Y-2M'", "'PT-0.1S'",
                    "'P'", "'PT'", "'P1Y1Y'", "'P1D T1H'", "'PT1.5H1M'", "'P0.5Y'", "'p1d'", "'PT9223372036854775807S'", "'P1W2D'", "'PT0.0000000001S'"],
    "datemap": ["{year: 1984, month: 10, day: 11}", "{year: 1984, week: 10}", "{year: 1984}", "{month: 10}", "{year: 1984, day: 11}", "{year: 1984, month: 2, day: 30}", "{}"],
    "timemap": ["{hour: 12, minute: 31, second: 14, nanosecond: 645876123, timezone: '+01:00'}", "{hour: 12}", "{minute: 1}", "{hour: 12, second: 1}", "{hour: 25}", "{}",
                "{hour: 12, minute: 31, second: 14, millisecond: 645, microsecond: 876, nanosecond: 123}", "{hour: 12, minute: 31, second: 14, microsecond: 645876, nanosecond: 123}"],
    "datetimemap": ["{year: 1984, month: 10, day: 11, hour: 12, timezone: 'Europe/Stockholm'}", "{year: 1984, ordinalDay: 202, hour: 12, minute: 31, second: 14, millisecond: 645}",
                    "{year: 1984, week: 10, dayOfWeek: 3, hour: 12}", "{year: 1984, quarter: 3, dayOfQuarter: 45, minute: 1}", "{epochSeconds: 416779, nanosecond: 123}",
                    "{epochMillis: 237821673987, timezone: 'America/New_York'}", "{year: 2021, month: 3, day: 28, hour: 2, minute: 30, timezone: 'Europe/Stockholm'}"],
    "durationmap": ["{days: 14, hours: 16, minutes: 12}", "{months: 5, days: 1.5}", "{years: 12.5, months: 5.5, days: 14.5, hours: 16.5, minutes: 12.5, seconds: 70.5, nanoseconds: 3}",
                    "{weeks: 2.5}", "{months: 0.75}", "{seconds: 2, milliseconds: -1}", "{quarters: 1}", "{nothing: 1}", "{}", "{days: '1'}", "{minutes: 1.5, seconds: -1}",
                    "{months: 9223372036854775807, years: 1}", "{days: null}", "{hours: $nan}"],
    "pointmap": ["{x: 1, y: 2}", "{x: 1.5, y: 2, z: 3}", "{longitude: 56.7, latitude: 12.78}", "{latitude: 91, longitude: 0}", "{longitude: 200, latitude: 0}",
                 "{x: 1, y: 2, crs: 'wgs-84'}", "{x: 1, y: 2, srid: 4326}", "{x: 1}", "{x: 1, y: null}", "{x: 'a', y: 1}", "{x: 1, y: 2, crs: 'nothing'}",
                 "{x: 1, y: 2, z: 3, crs: 'cartesian'}", "{longitude: 1, latitude: 2, height: 3}", "{x: 1, y: 2, height: 5}", "{x: 9, y: 2, crs: 'WGS-84-3D', z: 1}", "{x: $nan, y: 1}"],
}
TABLE = []
for line in OPERATIONS.strip().splitlines():
    text, kinds = line.replace("\\|", "\0").rsplit(" | ", 1)
    TABLE.append((text.replace("\0", "|"), [each.split() for each in kinds.split(";")]))
AGGREGATES = ["count({})", "count(DISTINCT {})", "sum({})", "avg({})", "min({})", "max({})", "collect({})", "collect(DISTINCT {})", "stDev({})", "stDevP({})",
              "percentileCont({}, 0.5)", "percentileDisc({}, 0.25)", "sum(DISTINCT {})", "percentileCont({}, 0.9)"]


class Expressions:
    """Statements of one expression, or of a list of values that are sorted, grouped or aggregated."""

    def __init__(self, choices):
        self.choices = choices

    def argument(self, kind, depth):
        chance = self.choices.random()
        if kind in SPECIAL:
            return self.choices.choice(SPECIAL[kind]) if chance < 0.95 else literal(self.choices, "any")
        if depth and chance < 0.3:
            return f"({self.expression(depth - 1)})"
        if chance < 0.34:
            return literal(self.choices, "any")
        if chance < 0.38:
            return "null"
        return literal(self.choices, kind)

    def expression(self, depth):
        text, kinds = self.choices.choice(TABLE)
        arguments = [self.argument(kind, depth) for kind in self.choices.choice(kinds)]
        return text.format(*arguments).replace("{part}", self.choices.choice(PARTS))

    def hidden(self):
        """One operation on values whose types the planner cannot know."""
        text, kinds = self.choices.choice(TABLE)
        values = [self.argument(kind, 0) for kind in self.choices.choice(kinds)]
        text = text.format(*[f"v[{place}]" for place in range(len(values))]).replace("{part}", self.choices.choice(PARTS))
        return f"WITH [{', '.join(values)}, 1, 'a', null] AS v RETURN {text} AS r"

    def values(self, least, most):
        kind = self.choices.choice(["any", "num", "temporal", "scalar", "list", "str", "duration", "datetime", "time", "point", "map", "any"])
        return "[" + ", ".join(literal(self.choices, kind) for _ in range(self.choices.randint(least, most))) + "]"

    def rows(self):
        """Values that are sorted, made distinct, grouped or aggregated: the statement, and whether its order is total."""
        values = self.values(1, 9)
        match self.choices.randrange(6):
            case 0:
                return f"UNWIND {values} AS x RETURN x ORDER BY x {self.choices.choice(['', 'DESC'])}", True
            case 1:
                return f"UNWIND {values} AS x RETURN DISTINCT x", False
            case 2:
                return f"UNWIND {values} AS x RETURN x, count(*) AS c", False
            case 3:
                return f"UNWIND {values} AS x UNWIND {self.values(1, 4)} AS y RETURN x = y AS e, x < y AS l, x >= y AS g, x IN [y] AS i, count(*) AS c", False
            case 4:
                aggregates = self.choices.sample(AGGREGATES, self.choices.randint(1, 2))
                columns = ", ".join(f"{text.format('x')} AS bag{place}" for place, text in enumerate(aggregates))
                return f"UNWIND {values} AS x RETURN {columns}", False
        return f"UNWIND {values} AS x WITH x ORDER BY x RETURN collect(x) AS ordered, min(x) AS a, max(x) AS b", False

    def statement(self):
        chance = self.choices.random()
        if chance < 0.4:
            return f"RETURN {self.expression(self.choices.choice([0, 0, 1, 2]))} AS r", False
        if chance < 0.75:
            return self.hidden(), False
        return self.rows()


assert all(kind in SPECIAL or kind in GROUPS or kind in POOL for _, kinds in TABLE for each in kinds for kind in each)
