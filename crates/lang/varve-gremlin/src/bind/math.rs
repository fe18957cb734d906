//! The expressions of `math()`.

use varve_query::QueryError;
use varve_query::plan::Math;

/// The most operators of an expression.
const OPERATORS_MAX: u32 = 500;
/// The largest depth of an expression.
const DEPTH_MAX: u32 = 100;

/// Parses an expression: numbers, variables, `_`, `+ - * / % ^`, parentheses, functions.
pub(super) fn expression(text: &str) -> Result<Math, QueryError> {
    let mut reader = Reader {
        text,
        at: 0,
        depth: 0,
        operators: 0,
    };
    let expression = reader.sum()?;
    reader.skip();
    match reader.at == text.len() {
        true => Ok(expression),
        false => Err(reader.refused()),
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    depth: u32,
    /// The number of operators so far.
    operators: u32,
}

impl<'t> Reader<'t> {
    fn refused(&self) -> QueryError {
        QueryError::invalid(format!(
            "math() cannot read its expression at character {}: {}",
            self.at, self.text
        ))
    }

    fn skip(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn peek(&mut self) -> Option<char> {
        self.skip();
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, wanted: &[char]) -> Option<char> {
        let found = self.peek().filter(|found| wanted.contains(found))?;
        self.at += found.len_utf8();
        Some(found)
    }

    /// Counts an operator. The limit bounds the recursion over the parsed expression.
    fn count(&mut self) -> Result<(), QueryError> {
        self.operators += 1;
        match self.operators > OPERATORS_MAX {
            true => Err(QueryError::invalid(format!(
                "math() may have {OPERATORS_MAX} operators"
            ))),
            false => Ok(()),
        }
    }

    fn sum(&mut self) -> Result<Math, QueryError> {
        let mut left = self.product()?;
        while let Some(operator) = self.take(&['+', '-']) {
            self.count()?;
            let right = self.product()?;
            left = Math::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Math, QueryError> {
        let mut left = self.unary()?;
        while let Some(operator) = self.take(&['*', '/', '%']) {
            self.count()?;
            let right = self.unary()?;
            left = Math::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Math, QueryError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(QueryError::invalid(format!(
                "math() nests deeper than {DEPTH_MAX}"
            )));
        }
        let read = match self.take(&['-', '+']) {
            Some('-') => Math::Negate(Box::new(self.unary()?)),
            Some(_) => self.unary()?,
            None => self.power()?,
        };
        self.depth -= 1;
        Ok(read)
    }

    fn power(&mut self) -> Result<Math, QueryError> {
        let base = self.atom()?;
        match self.take(&['^']) {
            Some(operator) => {
                let exponent = self.unary()?;
                Ok(Math::Binary(operator, Box::new(base), Box::new(exponent)))
            }
            None => Ok(base),
        }
    }

    fn atom(&mut self) -> Result<Math, QueryError> {
        if self.take(&['(']).is_some() {
            let inner = self.sum()?;
            return match self.take(&[')']) {
                Some(_) => Ok(inner),
                None => Err(self.refused()),
            };
        }
        match self.peek() {
            Some(c) if c.is_ascii_digit() || c == '.' => {
                let word = self.number();
                word.parse().map(Math::Number).map_err(|_| self.refused())
            }
            Some(c) if c.is_alphabetic() || c == '_' => {
                let word = self.word(|c| c.is_alphanumeric() || c == '_');
                match word {
                    name if varve_query::plan::MATH_FUNCTIONS.contains(&name) => {
                        Ok(Math::Function(word.into(), Box::new(self.unary()?)))
                    }
                    name => Ok(Math::Variable(name.into())),
                }
            }
            _ => Err(self.refused()),
        }
    }

    /// The digits of a number, with a point and an exponent: `1.5e-3`.
    fn number(&mut self) -> &'t str {
        let start = self.text[self.at..].len() - self.text[self.at..].trim_start().len() + self.at;
        self.word(|c| c.is_ascii_digit() || c == '.');
        let rest = &self.text[self.at..];
        if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
            let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
            if digits.starts_with(|c: char| c.is_ascii_digit()) {
                self.at += rest.len() - digits.len();
                self.word(|c| c.is_ascii_digit());
            }
        }
        &self.text[start..self.at]
    }

    fn word(&mut self, belongs: impl Fn(char) -> bool) -> &'t str {
        self.skip();
        let rest = &self.text[self.at..];
        let length = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }
}
