import { type Settings, settingsOf, type Visitor, type WidgetServerOptions } from './options.js';
import { crossOriginHeaders, preflight, requireOwnOrigin } from './origins.js';
import { internal, Refusal, WidgetServerError } from './problems.js';
import { type Route, routesOf } from './routes.js';
import { readVisitor } from './visitor.js';

/** Status of a response that no visitor waits for any more. */
const CLIENT_CLOSED = 499;

/**
 * Makes the server's part of the widget, for session mode and proxy mode: a function that answers the requests below
 * `basePath`. It never rejects; what it does not know, it answers with 404.
 * @throws TypeError for invalid options
 */
export function createWidgetHandler(
  options: WidgetServerOptions<unknown>,
): (request: Request, context?: unknown) => Promise<Response>;
export function createWidgetHandler<Context>(
  options: WidgetServerOptions<Context>,
): (request: Request, context: Context) => Promise<Response>;
export function createWidgetHandler<Context>(
  options: WidgetServerOptions<Context>,
): (request: Request, context: Context) => Promise<Response> {
  const settings = settingsOf(options);
  const routes = routesOf(settings);
  const visitorOf = (request: Request, context: Context) => identify(options, settings, request, context);
  return async (request, context) => {
    let response: Response;
    try {
      response = await answer(request, settings, routes, () => visitorOf(request, context));
    } catch (error) {
      response = refused(error, request, settings);
    }
    const headers = {
      // No compression in between either, because it would buffer the stream of a reply.
      'cache-control': 'no-store, no-transform',
      'x-content-type-options': 'nosniff',
      ...crossOriginHeaders(request, settings.allowedOrigins),
    };
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    return response;
  };
}

async function answer(
  request: Request,
  { basePath, allowedOrigins }: Settings,
  routes: readonly Route[],
  visitorOf: () => Promise<Visitor>,
): Promise<Response> {
  const { pathname } = new URL(request.url);
  const path = pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length) : '';
  const route = routes.find((each) => each.path.test(path));
  if (!route) throw new Refusal(404, 'not_found', 'There is no such route.');
  const isPreflight = request.method === 'OPTIONS' && allowedOrigins.size > 0;
  if (request.method !== route.method && !isPreflight) {
    throw new Refusal(405, 'method_not_allowed', `The route takes ${route.method}.`, { allow: route.method });
  }
  requireOwnOrigin(request, allowedOrigins);
  if (isPreflight) return preflight(request, route.method);
  const ids = route.path.exec(path)?.slice(1) ?? [];
  return route.answer({ request, visitor: await visitorOf() }, ...ids.map((id) => id.toLowerCase()));
}

async function identify<Context>(
  { visitor: ask }: WidgetServerOptions<Context>,
  { report }: Settings,
  request: Request,
  context: Context,
): Promise<Visitor> {
  let visitor: unknown;
  try {
    visitor = await ask(request, context);
  } catch (cause) {
    report(new WidgetServerError('visitor has failed', { cause }));
    throw internal();
  }
  if (visitor === null) throw new Refusal(401, 'visitor_unknown', 'Sign in to use the chat.');
  try {
    return readVisitor(visitor);
  } catch (problem) {
    const reason = problem instanceof Error ? problem.message : '';
    report(new WidgetServerError(`visitor returned an invalid visitor: ${reason}`));
    throw internal();
  }
}

/** Only refusals tell the visitor a reason. */
function refused(error: unknown, { signal }: Request, { report }: Settings): Response {
  if (error instanceof Refusal) return responseOf(error);
  if (signal.aborted) return new Response(null, { status: CLIENT_CLOSED });
  report(new WidgetServerError('The handler has failed', { cause: error }));
  return responseOf(internal());
}

function responseOf({ status: statusCode, code, message, headers }: Refusal): Response {
  return Response.json({ statusCode, code, message }, { status: statusCode, headers });
}
