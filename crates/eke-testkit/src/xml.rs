//! Whether figures are XML.

/// Whether text is one XML element with others inside, tags closed in order, attributes quoted and
/// nothing unescaped.
///
/// # Errors
/// What is wrong with it.
pub fn well_formed(text: &str) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text.trim();
    while let Some(start) = rest.find('<') {
        let (before, tag) = rest.split_at(start);
        if !before.trim().is_empty() && open.is_empty() {
            return Err(format!("text outside: {before}"));
        }
        if before.contains('>')
            || before.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "").contains('&')
        {
            return Err(format!("not escaped: {before}"));
        }
        let end = tag.find('>').ok_or("a tag does not end")?;
        let inside = &tag[1..end];
        if inside.contains('<') || inside.matches('"').count() % 2 == 1 {
            return Err(format!("a broken tag: {inside}"));
        }
        if let Some(closed) = inside.strip_prefix('/') {
            let opened = open.pop();
            if opened != Some(closed) {
                return Err(format!("{closed} closes {opened:?}"));
            }
        } else if !inside.ends_with('/') {
            open.push(inside.split_whitespace().next().unwrap_or(""));
        }
        rest = &tag[end + 1..];
    }
    if open.is_empty() && rest.trim().is_empty() { Ok(()) } else { Err(format!("open: {open:?}")) }
}
