//! What stands beside numbers of amounts: currencies, units, and words that say how sure one is.

use crate::data::schema::numbers_rows;

/// Signs of currencies, and codes of ISO 4217 that are no words: they stand on either side.
const CURRENCIES: &[&str] = &[
    "€", "$", "£", "¥", "₹", "₽", "₩", "₺", "¢", "฿", "₱", "₦", "₫", "₴", "₪", "₡", "₵", "₸", "￥",
    "￡", "￦", "円", "元", "원", "US$", "R$", "A$", "C$", "S$", "HK$", "NZ$", "NT$", "MX$", "AU$",
    "CA$", "Rs.", "Rs", "RM", "kr", "kr.", "Kr", "Kr.", "Kč", "zł", "Ft", "lei", "Lei", "Fr.",
    "SFr.", "SFr", "руб", "руб.", "р.", "S/", "S/.", "B/.", "Rp", "Rp.", "Bs", "Bs.", "KSh",
    "KSh.", "Ksh", "TSh", "USh", "Tk", "Tk.", "TL", "Php", "kn", "AED", "ARS", "AUD", "AZN", "BDT",
    "BGN", "BHD", "BRL", "BYN", "CAD", "CHF", "CLP", "CNY", "COP", "CRC", "CZK", "DKK", "DOP",
    "DZD", "EGP", "ETB", "EUR", "GBP", "GEL", "GHS", "HKD", "HRK", "HUF", "IDR", "ILS", "INR",
    "IQD", "IRR", "ISK", "JMD", "JOD", "JPY", "KES", "KRW", "KWD", "KZT", "LBP", "LKR", "MAD",
    "MMK", "MXN", "MYR", "NGN", "NOK", "NPR", "NZD", "OMR", "PEN", "PHP", "PKR", "PLN", "QAR",
    "RON", "RSD", "RUB", "SAR", "SEK", "SGD", "THB", "TND", "TRY", "TWD", "TZS", "UAH", "UGX",
    "USD", "UYU", "UZS", "VND", "XAF", "XOF", "ZAR", "ZMW",
];
/// Units that may stand at a number without a blank. Single capitals are none of them: `3A` is a
/// door more often than a current.
const UNITS: &[&str] = &[
    "%", "‰", "bp", "bps", "°", "°C", "°F", "℃", "℉", "µm", "mm", "cm", "dm", "m", "km", "mi",
    "ft", "yd", "m²", "km²", "ha", "mg", "g", "kg", "lb", "lbs", "oz", "ml", "cl", "dl", "l", "m³",
    "ms", "s", "sec", "min", "h", "hr", "hrs", "mV", "mA", "kW", "MW", "Wh", "kWh", "MWh", "Hz",
    "kHz", "MHz", "GHz", "kB", "KB", "MB", "GB", "TB", "km/h",
];
/// Words before a number that is about so much, in lower case.
const ABOUT: &[&str] = &[
    "~",
    "≈",
    "about",
    "above",
    "almost",
    "approx",
    "approx.",
    "approximately",
    "around",
    "at least",
    "at most",
    "below",
    "ca",
    "ca.",
    "circa",
    "env.",
    "environ",
    "etwa",
    "from",
    "less than",
    "more than",
    "nearly",
    "over",
    "plus de",
    "rund",
    "under",
    "ungefähr",
    "unter",
    "up to",
    "über",
];
/// Signs before a number that counts things, or that is a name of one.
const NUMBER: &[&str] = &["#", "no", "no.", "nr", "nr.", "n°", "nº", "num.", "№"];

/// Codes of currencies that are words, names or other units in small letters.
const WORDS: [&str; 8] = ["cop", "gel", "mad", "pen", "ron", "sar", "sek", "try"];

pub(super) fn is_currency(name: &str) -> bool {
    CURRENCIES.contains(&name) || has_sign(name) || is_code_in_other_letters(name)
}

/// Whether it is a code of ISO 4217 that is not all in capitals: `eur`, `Chf`.
fn is_code_in_other_letters(name: &str) -> bool {
    let is_code = name.len() == 3 && name.bytes().all(|c| c.is_ascii_alphabetic());
    is_code
        && !WORDS.contains(&name.to_lowercase().as_str())
        && CURRENCIES.contains(&name.to_uppercase().as_str())
}

/// Whether letters of a country stand before a sign: `GH₵`, `COP$`.
fn has_sign(name: &str) -> bool {
    let Some((at, sign)) = name.char_indices().next_back().filter(|(at, _)| *at > 0) else {
        return false;
    };
    let country = &name[..at];
    let is_sign = !sign.is_alphanumeric() && CURRENCIES.contains(&&name[at..]);
    is_sign && country.len() <= 3 && country.bytes().all(|c| c.is_ascii_uppercase())
}

/// Whether it is what a column says of its own numbers: `Price:`, `t =`; not the name of a row,
/// `ID:`.
pub(super) fn is_label(name: &str) -> bool {
    let word = name.strip_suffix([':', '=']).unwrap_or_default().trim_end();
    word.chars().count() <= 16
        && word.starts_with(char::is_alphabetic)
        && word
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | '.'))
        && !numbers_rows(word)
}

pub(super) fn is_unit(name: &str) -> bool {
    UNITS.contains(&name)
}

/// Ends of units that have a digit.
const WITH_DIGITS: [&str; 11] = [
    "m2", "m3", "m^2", "m^3", "km2", "km^2", "cm2", "cm3", "ft2", "100 km", "100km",
];

/// Whether it is a unit of which a digit is a part, alone or behind a stroke: `m2`, `€/m2`.
pub(super) fn has_digits(name: &str) -> bool {
    let is_end = |end: &&str| WITH_DIGITS.contains(end);
    match name.split_once('/') {
        Some((of, end)) => is_end(&end.trim()) && (is_currency(of.trim()) || is_unit(of.trim())),
        None => is_end(&name) && !name.starts_with("100"),
    }
}

/// Whether it is so much a unit: `€/m²`, `mg/kg`.
pub(super) fn is_ratio(name: &str) -> bool {
    let is_short = |end: &str| end.chars().count() <= 8 && end.chars().all(char::is_alphabetic);
    let is_one = |end: &str| is_unit(end) || (is_short(end) && !end.is_empty());
    let parts = name.split_once('/');
    parts.is_some_and(|(of, end)| (is_currency(of) || is_unit(of)) && is_one(end))
}

pub(super) fn is_about(name: &str) -> bool {
    // Most texts begin with a longer word.
    name.len() <= 16 && ABOUT.contains(&name.to_lowercase().as_str())
}

pub(super) fn is_number(name: &str) -> bool {
    name.len() <= 4 && NUMBER.contains(&name.to_lowercase().as_str())
}
