//! What makes a file of another kind one that can be read.

use std::path::Path;

/// The command for a file of this extension, in lower case.
pub(in crate::data) fn cure(path: &Path, extension: &str) -> Option<String> {
    let name = path.display();
    let table = path.with_extension("csv");
    let table = table.display();
    let pandas = |read: &str| {
        format!(
            "python3 -c \"import pandas as p; p.{read}.to_csv('{table}', index=False)\" makes a \
             .csv of it"
        )
    };
    Some(match extension {
        "xlsx" | "xls" | "ods" => pandas(&format!("read_excel('{name}')")),
        "jsonl" | "ndjson" => pandas(&format!("read_json('{name}', lines=True)")),
        "json" => pandas(&format!("read_json('{name}')")),
        "dta" => pandas(&format!("read_stata('{name}')")),
        "sav" => pandas(&format!("read_spss('{name}')")),
        "sas7bdat" | "xpt" => pandas(&format!("read_sas('{name}')")),
        "orc" => pandas(&format!("read_orc('{name}')")),
        "db" | "sqlite" | "sqlite3" => {
            format!(
                "sqlite3 -header -csv {name} 'select * from TABLE' > {table} makes a .csv of it"
            )
        }
        "zip" => format!("unzip {name} takes out what is in it"),
        "xz" => format!("xz -dk {name} unpacks it"),
        "bz2" => format!("bzip2 -dk {name} unpacks it"),
        "7z" => format!("7z x {name} takes out what is in it"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_names_both_files() {
        let of = |name: &str, extension| cure(Path::new(name), extension);
        let said = of("a/prices.xlsx", "xlsx").expect("a command");
        assert!(
            said.contains("read_excel('a/prices.xlsx').to_csv('a/prices.csv'"),
            "{said}"
        );
        let said = of("rows.csv.xz", "xz").expect("a command");
        assert_eq!(said, "xz -dk rows.csv.xz unpacks it");
        assert_eq!(of("rows.dat", "dat"), None);
    }
}
