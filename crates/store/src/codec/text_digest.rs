//! Text digest: the last field of the record of a content that is kept out.

use bincode::de::Decoder;
use bincode::enc::Encoder;
use bincode::error::{DecodeError, EncodeError};
use bincode::{Decode, Encode};

use fpdb_kernel::document::Digest;

/// The digest of a text, of [`SameText`](fpdb_kernel::normalize::SameText). `None` if the content is no text,
/// or if its text could not be read. Then the record ends before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextDigest(pub Option<Digest>);

impl Encode for TextDigest {
    fn encode<E: Encoder>(&self, encoder: &mut E) -> std::result::Result<(), EncodeError> {
        self.0.map_or(Ok(()), |digest| digest.encode(encoder))
    }
}

impl<C> Decode<C> for TextDigest {
    fn decode<D: Decoder<Context = C>>(decoder: &mut D) -> std::result::Result<Self, DecodeError> {
        match Digest::decode(decoder) {
            Ok(digest) => Ok(Self(Some(digest))),
            Err(DecodeError::UnexpectedEnd { .. }) => Ok(Self(None)),
            Err(error) => Err(error),
        }
    }
}

bincode::impl_borrow_decode!(TextDigest);

#[cfg(test)]
mod tests {
    use super::TextDigest;
    use crate::codec::records::{KeptOutRecord, decode, encode};

    /// Lists of before have no digests of texts.
    #[test]
    fn a_text_comes_after_the_other_fields_of_what_is_kept_out() {
        let bytes = KeptOutRecord { names: vec!["a".into()], since: 7, text: TextDigest(None) };
        let text = KeptOutRecord { text: TextDigest(Some([9; 16])), ..bytes.clone() };
        let [short, long] = [&bytes, &text].map(|record| encode(record).unwrap());
        assert_eq!((&short[..], &long[..]), (&b"\x01\x01\x01a\x0e"[..], &[&short[..], &[9; 16]].concat()[..]));
        for (encoded, record) in [(&short, &bytes), (&long, &text)] {
            assert_eq!(&decode::<KeptOutRecord>(encoded, String::new).unwrap(), record);
        }
        for length in short.len() + 1..long.len() {
            assert!(decode::<KeptOutRecord>(&long[..length], String::new).is_err());
        }
    }
}
