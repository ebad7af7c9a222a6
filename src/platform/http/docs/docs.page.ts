/** All addresses are relative, so that the page also works under a path of a proxy, and loads nothing from other hosts. */
export const DOCS_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Agent service API</title>
<link rel="icon" type="image/png" href="docs/assets/favicon-32x32.png">
<link rel="stylesheet" href="docs/assets/swagger-ui.css">
<link rel="stylesheet" href="docs/assets/page.css">
</head>
<body>
<header><strong>Agent service API</strong><a href="v1/openapi.json">OpenAPI document</a></header>
<main id="reference">
<noscript>This page needs JavaScript; the <a href="v1/openapi.json">OpenAPI document</a> does not.</noscript>
</main>
<script src="docs/assets/swagger-ui-bundle.js"></script>
<script src="docs/assets/page.js"></script>
</body>
</html>
`;

export const DOCS_STYLE = `body { margin: 0; background: #fafafa; }
header { display: flex; justify-content: space-between; padding: 12px 24px; background: #17212b; color: #fff; }
header { font: 16px/1.5 system-ui, sans-serif; }
header a { color: #9fd3ff; }
.swagger-ui .info { margin: 24px 0; }
`;

export const DOCS_SCRIPT = `SwaggerUIBundle({
  url: 'v1/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  displayRequestDuration: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  filter: true,
  validatorUrl: null,
});
`;
