/** Nothing is loaded, run, framed or sent. */
export const PAGE_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** @param reason of our own words alone: nothing that a request or a server sent */
export function signInFailedPage(reason: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The sign-in was not completed</title>
</head>
<body>
<main>
<h1>The sign-in was not completed</h1>
<p>${escapeText(reason)}</p>
</main>
</body>
</html>
`;
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
