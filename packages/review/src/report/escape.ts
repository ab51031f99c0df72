/** Characters that change the text around them, or can't be seen: they are written out. */
const INVISIBLE =
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\p{Surrogate}]/gu;

function makeVisible(text: string): string {
  return text.replace(INVISIBLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A text of a resource as HTML. */
export function html(text: string): string {
  return makeVisible(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;")
    .replaceAll("'", "&#39;");
}

/** A text of a resource as code in Markdown. */
export function markdownCode(text: string): string {
  return `<code>${entities(text)}</code>`;
}

/** A text with parts of resources as Markdown, which mentions nobody. */
export function markdownText(text: string): string {
  return entities(text).replaceAll("&#64;", "&#64;&#8203;");
}

/** Writes every character that means something in Markdown as its number. */
function entities(text: string): string {
  return makeVisible(text).replace(/[^A-Za-z0-9 .,;:/+=()-]/g, (sign) =>
    sign > "\u007f" ? sign : `&#${sign.charCodeAt(0)};`,
  );
}

/** A text of a resource as a label of a Mermaid node. */
export function mermaidLabel(text: string): string {
  return makeVisible(text).replace(/[^A-Za-z0-9 ._:-]/gu, (sign) => `#${sign.codePointAt(0)};`);
}
