/**
 * The behaviour of Swagger UI in the browser. The source text of these functions becomes part of the page: they can use the page's
 * variables, but nothing of this module.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifySwaggerUiConfigOptions, FastifySwaggerUiOptions } from '@fastify/swagger-ui';
import { issuerAnswerScript } from './docs-popup-ui.ts';
import { responseInterceptor, typeSelector, type PageFunction } from './docs-types-ui.ts';

interface SwaggerSystem {
  React: { createElement: PageFunction; Fragment: unknown; useState: (first: boolean) => [boolean, (next: boolean) => void] };
  fn: { getSampleSchema: PageFunction; isFileUploadIntended: PageFunction };
  specSelectors: { specJson: () => { getIn: (path: string[]) => { toJS: () => object } | undefined } };
}

interface SwaggerPage {
  location: { pathname: string };
  SwaggerUIBundle: { plugins: { DownloadUrl: PageFunction } };
  document: { documentElement: { classList: { toggle: (name: string, on: boolean) => void } } };
  matchMedia: (query: string) => { matches: boolean; addEventListener: (event: string, listener: () => void) => void };
}

/** Loads the document. */
function downloadUrl(): unknown {
  return (globalThis as unknown as SwaggerPage).SwaggerUIBundle.plugins.DownloadUrl;
}

/**
 * Leaves form fields without an example empty, and omits empty fields from the request. Otherwise Swagger UI writes "string" into each and
 * also sends fields that a person has cleared, which the service refuses.
 */
function emptyFields(): object {
  return {
    afterLoad(this: SwaggerSystem, system: SwaggerSystem) {
      const { getSampleSchema } = system.fn;
      this.fn.getSampleSchema = (schema, mediaType, ...rest) => {
        const sample = getSampleSchema(schema, mediaType, ...rest);
        // Fields have no media type. These two texts are Swagger UI's samples for any string and for any password.
        return mediaType === false && (sample === 'string' || sample === '********') ? '' : sample;
      };
    },
    wrapComponents: {
      ParameterIncludeEmpty:
        (original: unknown, { React }: SwaggerSystem) =>
        (props: { isIncludedOptions?: object }) =>
          React.createElement(original, { ...props, isIncludedOptions: { ...props.isIncludedOptions, defaultValue: false } }),
    },
  };
}

/** Shows a text box for a filter, which is a text of JSON. Swagger UI takes any text with a media type for a file. */
function textFilters(): object {
  return {
    afterLoad(this: SwaggerSystem) {
      this.fn.isFileUploadIntended = () => false;
    },
  };
}

/** Shows lines of JSON as a text. Swagger UI takes them for one JSON value, and writes that it cannot parse it. */
function linesOfJson(): object {
  return {
    wrapComponents: {
      responseBody:
        (original: unknown, { React }: SwaggerSystem) =>
        (props: { contentType: string | undefined }) =>
          React.createElement(original, props.contentType?.includes('ndjson') ? { ...props, contentType: 'text/plain' } : props),
    },
  };
}

/** Fills in Swagger UI's client at the issuer. Swagger UI itself has one setting for all issuers. */
function issuerClients(): object {
  return {
    wrapComponents: {
      oauth2:
        (original: unknown, { React, specSelectors }: SwaggerSystem) =>
        (props: { name: string; authSelectors: { getConfigs: () => object } }) => {
          const client = specSelectors.specJson().getIn(['components', 'securitySchemes', props.name, 'x-swagger-ui']);
          const getConfigs = () => ({ ...props.authSelectors.getConfigs(), ...client?.toJS() });
          return React.createElement(original, { ...props, authSelectors: { ...props.authSelectors, getConfigs } });
        },
    },
  };
}

/** Shows the contract's introduction up to its first heading. A click shows the rest. */
function shortIntroduction(): object {
  return {
    wrapComponents: {
      OAS31Info:
        (original: unknown, { React }: SwaggerSystem) =>
        (props: { getComponent: (name: string, ...rest: unknown[]) => unknown }) => {
          const { createElement } = React;
          const markdown = (source: string) => createElement(props.getComponent('Markdown', true), { source });
          const introduction = ({ source }: { source: string }) => {
            const [start = '', ...sections] = source.split(/^(?=## )/m);
            const titles = sections.map((section) => section.slice(3, section.indexOf('\n'))).join(', ');
            const rest = createElement('details', null, createElement('summary', null, titles), markdown(sections.join('')));
            return createElement(React.Fragment, null, markdown(start), sections.length > 0 && rest);
          };
          const getComponent = (name: string, ...rest: unknown[]) =>
            name === 'Markdown' ? introduction : props.getComponent(name, ...rest);
          return createElement(original, { ...props, getComponent });
        },
      // Instead of the page's own URL of the document: the documentation, and the URLs of both forms, beside `/docs`.
      InfoUrl:
        (_original: unknown, { React: { createElement } }: SwaggerSystem) =>
        () => {
          const base = (globalThis as unknown as SwaggerPage).location.pathname.replace(/docs\/?$/, '');
          const link = (path: string, text = path) => createElement('a', { href: base + path, target: '_blank' }, text);
          const links = [link('documentation', 'Documentation'), link('openapi.yaml'), link('openapi.json')];
          return createElement('div', { className: 'page-links' }, ...links);
        },
    },
  };
}

/** Shows one line for each problem that an operation answers. A click shows the rest of it. */
function shortProblems(): object {
  return {
    wrapComponents: {
      response:
        (original: unknown, { React }: SwaggerSystem) =>
        (props: { code: string; response: { get: (name: string) => string } }) => {
          const { createElement } = React;
          const [isOpen, setOpen] = React.useState(false);
          if (!/^[45]/.test(props.code)) return createElement(original, props);
          const onClick = () => setOpen(!isOpen);
          const button = createElement(
            'button',
            { type: 'button', className: 'response-problem', 'aria-expanded': isOpen, onClick },
            props.response.get('description'),
          );
          const line = createElement(
            'tr',
            { className: 'response' },
            createElement('td', { className: 'response-col_status' }, props.code),
            createElement('td', { className: 'response-col_description', colSpan: 2 }, button),
          );
          return createElement(React.Fragment, null, line, isOpen && createElement(original, props));
        },
    },
  };
}

/**
 * Answers requests to the contract's example of an OpenID provider, so that the page sends requests to its own server only. Sends lines of JSON as
 * they were typed: Swagger UI makes one JSON string of them.
 */
function requestInterceptor<T>(request: T): T {
  const { url, body, headers } = request as { url: string; body?: unknown; headers?: Record<string, string> };
  if (url.endsWith('/.well-known/openid-configuration')) Object.assign(request as object, { userFetch: async () => Response.json({}) });
  const isLines = headers?.['Content-Type'] === 'application/x-ndjson';
  if (isLines && typeof body === 'string' && body.startsWith('"')) Object.assign(request as object, { body: JSON.parse(body) as string });
  return request;
}

export const uiConfig: FastifySwaggerUiConfigOptions = {
  // Without the top bar, which asks for the URL of another document.
  layout: 'BaseLayout',
  validatorUrl: null,
  deepLinking: true,
  displayRequestDuration: true,
  // Of the themes, the one whose colours all have enough contrast.
  syntaxHighlight: { theme: 'tomorrow-night' },
  plugins: [downloadUrl, emptyFields, textFilters, linesOfJson, issuerClients, shortIntroduction, shortProblems, typeSelector] as never,
  requestInterceptor,
  responseInterceptor,
};

/** Switches Swagger UI between light and dark as the browser says. Swagger UI itself does so in its top bar only. */
function followColorScheme(): void {
  const { document, matchMedia } = globalThis as unknown as SwaggerPage;
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const apply = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
  dark.addEventListener('change', apply);
  apply();
}

/** The files that the page loads besides Swagger UI, from this server. */
export const uiTheme: NonNullable<FastifySwaggerUiOptions['theme']> = {
  css: [{ filename: 'page.css', content: readFileSync(join(import.meta.dirname, 'docs-page.css'), 'utf8') }],
  js: [
    { filename: 'color-scheme.js', content: `(${followColorScheme.toString()})();` },
    { filename: 'issuer-answer.js', content: issuerAnswerScript },
  ],
};
