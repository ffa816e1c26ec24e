/**
 * The behaviour of Swagger UI in the browser. The source text of these functions becomes part of the page: they can use the page's
 * variables, but nothing of this module.
 */
import type { FastifySwaggerUiConfigOptions } from '@fastify/swagger-ui';

type Fn = (...args: unknown[]) => unknown;

interface System {
  React: { createElement: Fn };
  fn: { getSampleSchema: Fn };
  specSelectors: { specJson: () => { getIn: (path: string[]) => { toJS: () => object } | undefined } };
}

interface Page {
  SwaggerUIBundle: { plugins: { DownloadUrl: Fn } };
}

/**
 * Leaves form fields without an example empty, and omits empty fields from the request. Otherwise Swagger UI writes "string" into each and
 * also sends fields that a person has cleared, which the service refuses.
 */
function plugins(): object {
  const emptyFields = {
    afterLoad(this: System, system: System) {
      const { getSampleSchema } = system.fn;
      this.fn.getSampleSchema = (schema, mediaType, ...rest) => {
        const sample = getSampleSchema(schema, mediaType, ...rest);
        // Fields have no media type. These two texts are Swagger UI's samples for any string and for any password.
        return mediaType === false && (sample === 'string' || sample === '********') ? '' : sample;
      };
    },
    wrapComponents: {
      ParameterIncludeEmpty:
        (original: unknown, { React }: System) =>
        (props: { isIncludedOptions?: object }) =>
          React.createElement(original, { ...props, isIncludedOptions: { ...props.isIncludedOptions, defaultValue: false } }),
    },
  };
  /** Fills in Swagger UI's client at the issuer. Swagger UI itself has one setting for all issuers. */
  const clients = {
    wrapComponents: {
      oauth2:
        (original: unknown, { React, specSelectors }: System) =>
        (props: { name: string; authSelectors: { getConfigs: () => object } }) => {
          const client = specSelectors.specJson().getIn(['components', 'securitySchemes', props.name, 'x-swagger-ui']);
          const getConfigs = () => ({ ...props.authSelectors.getConfigs(), ...client?.toJS() });
          return React.createElement(original, { ...props, authSelectors: { ...props.authSelectors, getConfigs } });
        },
    },
  };
  return [(globalThis as unknown as Page).SwaggerUIBundle.plugins.DownloadUrl, emptyFields, clients];
}

/** Answers requests to the contract's example of an OpenID provider, so that the page sends requests to its own server only. */
function requestInterceptor<T>(request: T): T {
  const { url } = request as { url: string };
  if (url.endsWith('/.well-known/openid-configuration')) Object.assign(request as object, { userFetch: async () => Response.json({}) });
  return request;
}

export const uiConfig: FastifySwaggerUiConfigOptions = {
  // Without the top bar, which asks for the URL of another document.
  layout: 'BaseLayout',
  validatorUrl: null,
  deepLinking: true,
  displayRequestDuration: true,
  plugins: [plugins],
  requestInterceptor,
};
