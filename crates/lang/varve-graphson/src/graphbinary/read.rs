//! Reads GraphBinary.

use std::str;

use bigdecimal::BigDecimal;
use num_bigint::BigInt;

use super::{NULL, PRESENT, code, wrong};
use crate::budget::{Budget, NESTING_MAX};
use crate::error::{Result, WireError};
use crate::number::{BIG_BYTES_MAX, checked_decimal};
use crate::value::{Bytecode, Instruction, Text, TokenClass, Value, named};

/// Reads the values of one message.
pub(crate) struct Reader<'b> {
    bytes: &'b [u8],
    place: usize,
    pub(crate) budget: Budget,
}

impl<'b> Reader<'b> {
    /// A reader at the beginning of a message. The budget allows `values_max` values, nested up to
    /// [`NESTING_MAX`].
    pub(crate) fn new(bytes: &'b [u8], values_max: usize) -> Reader<'b> {
        Reader {
            bytes,
            place: 0,
            budget: Budget::new(NESTING_MAX, values_max),
        }
    }

    /// Checks that no bytes are left.
    pub(crate) fn end(&self) -> Result<()> {
        match self.bytes.len() - self.place {
            0 => Ok(()),
            left => Err(WireError::Malformed {
                place: self.place,
                message: format!("{left} bytes follow the value"),
            }),
        }
    }

    pub(crate) fn take(&mut self, length: usize, what: &'static str) -> Result<&'b [u8]> {
        let end = self.place.checked_add(length);
        let taken = end.and_then(|end| self.bytes.get(self.place..end));
        let taken = taken.ok_or(WireError::Short(what))?;
        self.place += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N, what)?);
        Ok(array)
    }

    pub(crate) fn u8(&mut self, what: &'static str) -> Result<u8> {
        self.array::<1>(what).map(|[byte]| byte)
    }

    pub(super) fn i8(&mut self) -> Result<i8> {
        self.array("a Byte").map(i8::from_be_bytes)
    }

    pub(crate) fn i32(&mut self) -> Result<i32> {
        self.array("an Int").map(i32::from_be_bytes)
    }

    pub(super) fn i64(&mut self) -> Result<i64> {
        self.array("a Long").map(i64::from_be_bytes)
    }

    pub(crate) fn u128(&mut self) -> Result<u128> {
        self.array("a UUID").map(u128::from_be_bytes)
    }

    /// Reads a length; an error if it is negative. It may exceed the message, so callers allocate
    /// no memory by it in advance.
    pub(super) fn length(&mut self, kind: &str) -> Result<usize> {
        usize::try_from(self.i32()?).map_err(|_| wrong(kind, "its length is negative"))
    }

    /// Reads a string without type code and flag.
    pub(crate) fn string(&mut self) -> Result<Text> {
        let length = self.length("String")?;
        let bytes = self.take(length, "a String")?;
        let text = str::from_utf8(bytes).map_err(|_| wrong("String", "it is not UTF-8"))?;
        Ok(Text::from(text))
    }

    /// Reads a fully qualified value.
    pub(crate) fn value(&mut self) -> Result<Value> {
        let code = self.u8("a type code")?;
        if code == 0 {
            let name = self.string()?;
            return Err(WireError::Unsupported(name.chars().take(60).collect()));
        }
        match self.u8("a value flag")? {
            NULL => {
                self.budget.enter()?;
                self.budget.leave();
                Ok(Value::Null)
            }
            PRESENT => self.bare(code),
            flag => Err(wrong(
                &format!("0x{code:02X}"),
                &format!("the flag {flag} is not of GraphBinary 1.0"),
            )),
        }
    }

    /// Reads a value of the type `code`, without type code and flag.
    pub(super) fn bare(&mut self, code: u8) -> Result<Value> {
        self.budget.enter()?;
        let value = match code {
            code::INT => Value::Int(self.i32()?),
            code::LONG => Value::Long(self.i64()?),
            code::STRING => Value::String(self.string()?),
            code::DATE => Value::Date(self.i64()?),
            code::TIMESTAMP => Value::Timestamp(self.i64()?),
            code::CLASS => Value::Class(self.string()?),
            code::DOUBLE => Value::Double(self.array("a Double").map(f64::from_be_bytes)?),
            code::FLOAT => Value::Float(self.array("a Float").map(f32::from_be_bytes)?),
            code::LIST => Value::List(self.list("List")?),
            code::SET => Value::Set(self.list("Set")?),
            code::MAP => Value::Map(self.map()?),
            code::UUID => Value::Uuid(self.u128()?),
            code::BINDING => Value::Binding {
                key: self.string()?,
                value: Box::new(self.value()?),
            },
            code::BYTECODE => Value::Bytecode(self.bytecode()?),
            code::LAMBDA => Value::Lambda {
                language: self.string()?,
                script: self.string()?,
                arguments: self.i32()?,
            },
            code::P | code::TEXT_P => Value::Predicate {
                name: self.string()?,
                operands: self.list("P")?,
            },
            code::TRAVERSER => Value::Traverser {
                bulk: self.i64()?,
                value: Box::new(self.value()?),
            },
            code::BIG_DECIMAL => self.big_decimal()?,
            code::BIG_INTEGER => Value::BigInt(Box::new(self.big_integer()?)),
            code::BYTE => Value::Byte(self.i8()?),
            code::BYTE_BUFFER => {
                let length = self.length("ByteBuffer")?;
                Value::Binary(self.take(length, "a ByteBuffer")?.to_vec())
            }
            code::SHORT => Value::Short(self.array("a Short").map(i16::from_be_bytes)?),
            code::BOOLEAN => Value::Bool(self.u8("a Boolean")? != 0),
            code::STRATEGY => self.strategy()?,
            code::BULK_SET => self.bulk_set()?,
            code::CHAR => Value::Char(self.char()?),
            _ => self.rarer(code)?,
        };
        self.budget.leave();
        Ok(value)
    }

    fn rarer(&mut self, code: u8) -> Result<Value> {
        if let Some(class) = TokenClass::from_code(code) {
            return match self.value()? {
                Value::String(name) => Ok(Value::Token { class, name }),
                _ => Err(wrong(class.name(), "its name is no String")),
            };
        }
        match self.temporal(code)? {
            Some(value) => Ok(value),
            None => self.element(code),
        }
    }

    /// Reads a list without type code and flag: a length and fully qualified values.
    pub(super) fn list(&mut self, kind: &str) -> Result<Vec<Value>> {
        let length = self.length(kind)?;
        let mut members = Vec::new();
        for _ in 0..length {
            members.push(self.value()?);
        }
        Ok(members)
    }

    /// Reads a map without type code and flag.
    pub(crate) fn map(&mut self) -> Result<Vec<(Value, Value)>> {
        let length = self.length("Map")?;
        let mut entries = Vec::new();
        for _ in 0..length {
            entries.push((self.value()?, self.value()?));
        }
        Ok(entries)
    }

    fn bulk_set(&mut self) -> Result<Value> {
        let length = self.length("BulkSet")?;
        let mut members = Vec::new();
        for _ in 0..length {
            members.push((self.value()?, self.i64()?));
        }
        Ok(Value::BulkSet(members))
    }

    fn bytecode(&mut self) -> Result<Bytecode> {
        Ok(Bytecode {
            steps: self.instructions()?,
            source: self.instructions()?,
        })
    }

    fn instructions(&mut self) -> Result<Vec<Instruction>> {
        let length = self.length("Bytecode")?;
        let mut instructions = Vec::new();
        for _ in 0..length {
            instructions.push(Instruction {
                name: self.string()?,
                arguments: self.list("Bytecode")?,
            });
        }
        Ok(instructions)
    }

    fn strategy(&mut self) -> Result<Value> {
        let class = self.string()?;
        let configuration = named(self.map()?).ok_or_else(|| {
            wrong(
                "TraversalStrategy",
                "a key of its configuration is no String",
            )
        })?;
        Ok(Value::Strategy {
            class,
            configuration,
        })
    }

    fn big_integer(&mut self) -> Result<BigInt> {
        let length = self.length("BigInteger")?;
        if length > BIG_BYTES_MAX {
            let message = format!("it has more than {BIG_BYTES_MAX} bytes");
            return Err(wrong("BigInteger", &message));
        }
        Ok(BigInt::from_signed_bytes_be(
            self.take(length, "a BigInteger")?,
        ))
    }

    fn big_decimal(&mut self) -> Result<Value> {
        let scale = i64::from(self.i32()?);
        let value = BigDecimal::new(self.big_integer()?, scale);
        Ok(Value::BigDecimal(Box::new(checked_decimal(
            "BigDecimal",
            value,
        )?)))
    }

    /// Reads one character in UTF-8, of 1 to 4 bytes.
    fn char(&mut self) -> Result<char> {
        let rest = &self.bytes[self.place..];
        let length = match rest.first() {
            None => return Err(WireError::Short("a Char")),
            Some(0..0x80) => 1,
            Some(0..0xE0) => 2,
            Some(0..0xF0) => 3,
            Some(_) => 4,
        };
        let text = str::from_utf8(self.take(length, "a Char")?);
        let character = text.ok().and_then(|text| text.chars().next());
        character.ok_or_else(|| wrong("Char", "it is not UTF-8"))
    }
}
