//! Branches: children that see all values, and children that see one at a time.

use super::super::step::{Argument, Step};
use super::super::value::Value;
use super::filters::holds;
use super::{LeftOut, Naive, Walker, Walkers};

impl Naive<'_> {
    /// `None`: the step is no branch.
    pub(super) fn branch(
        &self,
        step: &Step,
        walkers: &[Walker],
    ) -> Result<Option<Vec<Walker>>, LeftOut> {
        Ok(Some(match step.name {
            // Children that gather make no value of no rows.
            "union" if walkers.is_empty() => Vec::new(),
            "union" => {
                let mut all = Vec::new();
                for child in step.children() {
                    all.extend(self.run(child, walkers.to_vec())?);
                }
                all
            }
            "choose" if step.behind.is_empty() => self.choose(step, walkers)?,
            "choose" | "branch" => self.options(step, walkers)?,
            "repeat" => self.repeat(step, walkers)?,
            "local" | "optional" | "coalesce" | "map" | "flatMap" => {
                let mut all = Vec::new();
                for walker in walkers {
                    all.extend(self.for_one(step, walker)?);
                }
                all
            }
            "match" => self.matched(step, walkers)?,
            _ => return Ok(None),
        }))
    }

    /// Children that see one value.
    fn for_one(&self, step: &Step, walker: &Walker) -> Walkers {
        let alone = |child: &[Step]| self.run(child, vec![walker.clone()]);
        // A path has what these give, not how that was found.
        let given = |found: Vec<Walker>| found.into_iter().map(|found| walker.to(found.value));
        Ok(match step.name {
            // What a reducer gives is in the same loops.
            "local" => alone(step.child(0))?
                .into_iter()
                .map(|found| Walker {
                    loops: walker.loops.clone(),
                    ..found
                })
                .collect(),
            "optional" => match alone(step.child(0))? {
                found if found.is_empty() => vec![walker.clone()],
                found => found,
            },
            "coalesce" => {
                for child in step.children() {
                    let found = alone(child)?;
                    if !found.is_empty() {
                        return Ok(given(found).collect());
                    }
                }
                Vec::new()
            }
            "map" => given(alone(step.child(0))?).take(1).collect(),
            _ => given(alone(step.child(0))?).collect(),
        })
    }

    /// `choose(test, then, otherwise)`: what has no branch passes.
    fn choose(&self, step: &Step, walkers: &[Walker]) -> Walkers {
        let (mut passing, mut others) = (Vec::new(), Vec::new());
        for walker in walkers {
            let held = match &step.arguments[0] {
                Argument::Test(test) => holds(test, &walker.value),
                _ => self.gives(step.child(0), walker)?,
            };
            match held {
                true => passing.push(walker.clone()),
                false => others.push(walker.clone()),
            }
        }
        let mut all = self.run(step.child(1), passing)?;
        all.extend(match step.arguments.len() {
            2 => others,
            _ => self.run(step.child(2), others)?,
        });
        Ok(all)
    }

    /// `choose(choice).option(…)` takes the first option that fits, `branch` all of them.
    fn options(&self, step: &Step, walkers: &[Walker]) -> Walkers {
        let mut all = Vec::new();
        let options = step.all_behind("option");
        let mut routed: Vec<Vec<Walker>> = vec![Vec::new(); options.len()];
        for walker in walkers {
            let choice = match &step.arguments[0] {
                Argument::Word("T.label") => Some(self.label(&walker.value)),
                _ => self.child(step.child(0), walker)?.into_iter().next(),
            };
            let fits: Vec<usize> = (0..options.len())
                .filter(|at| fits(&options[*at].arguments[0], choice.as_ref()))
                .collect();
            let word = |word: &str| options.iter().position(|option| option.says(word));
            let otherwise = match (&choice, fits.as_slice()) {
                (None, _) => word("Pick.unproductive"),
                (Some(_), []) => word("Pick.none"),
                _ => None,
            };
            let always = word("Pick.any").filter(|_| step.name == "branch");
            let mut taken: Vec<usize> = fits.into_iter().chain(otherwise).chain(always).collect();
            if step.name == "choose" {
                taken.truncate(1);
                if taken.is_empty() {
                    all.push(walker.clone());
                }
            }
            for at in taken {
                routed[at].push(walker.clone());
            }
        }
        for (option, walkers) in options.iter().zip(routed) {
            all.extend(self.run(option.child(1), walkers)?);
        }
        Ok(all)
    }

    /// What stands in front of `repeat` is tested before a round, the rest after it.
    fn repeat(&self, step: &Step, walkers: &[Walker]) -> Walkers {
        let name = step.names().first().map(|name| (*name).to_owned());
        let body = step.arguments.last().expect("a body");
        let Argument::Child(body) = body else {
            panic!("{step} has no body")
        };
        let left = |walker: &Walker| {
            let mut left = walker.clone();
            left.loops.pop();
            left
        };
        let mut now = walkers.to_vec();
        for walker in &mut now {
            walker.loops.push((name.clone(), 0));
        }
        let mut all = Vec::new();
        while !now.is_empty() {
            let mut inside = Vec::new();
            for walker in now {
                if self.ends(&step.before, &walker)? {
                    all.push(left(&walker));
                    continue;
                }
                if self.emits(&step.before, &walker)? {
                    all.push(left(&walker));
                }
                inside.push(walker);
            }
            now = Vec::new();
            for mut walker in self.run(body, inside)? {
                walker.loops.last_mut().expect("it is in the loop").1 += 1;
                if self.ends(&step.behind, &walker)? {
                    all.push(left(&walker));
                    continue;
                }
                if self.emits(&step.behind, &walker)? {
                    all.push(left(&walker));
                }
                now.push(walker);
            }
        }
        Ok(all)
    }

    fn ends(&self, modulators: &[Step], walker: &Walker) -> Result<bool, LeftOut> {
        let rounds = walker.loops.last().expect("it is in the loop").1;
        if let Some(times) = Step::find(modulators, "times") {
            return Ok(rounds >= times.number(0));
        }
        match Step::find(modulators, "until") {
            Some(until) => self.tests(until, walker),
            None => Ok(false),
        }
    }

    fn emits(&self, modulators: &[Step], walker: &Walker) -> Result<bool, LeftOut> {
        match Step::find(modulators, "emit") {
            Some(emit) if emit.arguments.is_empty() => Ok(true),
            Some(emit) => self.tests(emit, walker),
            None => Ok(false),
        }
    }

    fn tests(&self, modulator: &Step, walker: &Walker) -> Result<bool, LeftOut> {
        match &modulator.arguments[0] {
            Argument::Test(test) => Ok(holds(test, &walker.value)),
            _ => self.gives(modulator.child(0), walker),
        }
    }
}

fn fits(option: &Argument, choice: Option<&Value>) -> bool {
    choice.is_some_and(|choice| match option {
        Argument::Test(test) => holds(test, choice),
        Argument::Value(own) => choice.equals(own),
        Argument::Name(own) => choice.equals(&Value::text(own)),
        _ => false,
    })
}
