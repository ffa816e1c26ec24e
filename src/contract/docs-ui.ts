/**
 * How Swagger UI behaves in the browser. The functions here are written into the page as they stand: they see nothing of this module and
 * everything of the page.
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
 * Starts the fields of a form empty where the contract has no example, and leaves empty fields out of the request. Swagger UI writes
 * "string" into each and sends also those that a person has cleared, which the service refuses.
 */
function plugins(): object {
  const emptyFields = {
    afterLoad(this: System, system: System) {
      const { getSampleSchema } = system.fn;
      this.fn.getSampleSchema = (schema, mediaType, ...rest) => {
        const sample = getSampleSchema(schema, mediaType, ...rest);
        // Fields have no media type. These two texts stand for any string and for any password.
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
  /** Fills in how Swagger UI is known to the issuer, which it would otherwise take from one setting for all of them. */
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

/** Answers in place of the OpenID provider of the contract, which is an example, so that the page asks nobody but its own server. */
function requestInterceptor<T>(request: T): T {
  const { url } = request as { url: string };
  if (url.endsWith('/.well-known/openid-configuration')) Object.assign(request as object, { userFetch: async () => Response.json({}) });
  return request;
}

export const uiConfig: FastifySwaggerUiConfigOptions = {
  // Without the bar on top, which asks for the address of another document.
  layout: 'BaseLayout',
  validatorUrl: null,
  deepLinking: true,
  displayRequestDuration: true,
  plugins: [plugins],
  requestInterceptor,
};
