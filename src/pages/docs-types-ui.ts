/**
 * The selector of entity types in Swagger UI. It shows the types of the caller, and loads the document with the chosen one. Like the functions of
 * docs-ui.ts, the source text of these functions becomes part of the page.
 */
export type PageFunction = (...args: unknown[]) => unknown;

interface SelectorSystem {
  React: {
    createElement: PageFunction;
    Fragment: unknown;
    useEffect: (effect: () => (() => void) | void, dependencies: unknown[]) => void;
    useRef: () => { current: { focus: () => void } | null };
    useState: (first: number) => [number, (change: (before: number) => number) => void];
  };
  specActions: { updateUrl: (url: string) => void; download: (url: string) => void };
}

interface SelectorPage {
  location: { pathname: string };
  addEventListener: (event: string, listener: () => void) => void;
  removeEventListener: (event: string, listener: () => void) => void;
  dispatchEvent: (event: Event) => void;
}

/** Tells the page that a request may have changed the caller, so that the types of another caller are to be shown. */
export function responseInterceptor<T>(response: T): T {
  const { url } = response as { url: string };
  if (/\/auth([/?]|$)/.test(url)) (globalThis as unknown as SelectorPage).dispatchEvent(new Event('caller-changed'));
  return response;
}

/** The selector beside the links of the page; without types there is none. */
export function typeSelector(): object {
  const page = globalThis as unknown as SelectorPage;
  const path = page.location.pathname.replace(/\/?$/, '/');
  // Swagger UI makes its components anew for each document, so they store nothing.
  let names: string[] = [];
  let chosen = '';
  let isFocused = false;
  let selector: (() => unknown) | undefined;

  const load = ({ specActions }: SelectorSystem, name: string) => {
    chosen = name;
    const url = `${path}json${name === '' ? '' : `?type=${encodeURIComponent(name)}`}`;
    specActions.updateUrl(url);
    specActions.download(url);
  };

  const readNames = async (system: SelectorSystem) => {
    const answer = await fetch(`${path}types`);
    names = answer.ok ? ((await answer.json()) as { types: string[] }).types : [];
    if (chosen !== '' && !names.includes(chosen)) load(system, '');
  };

  const makeSelector = (system: SelectorSystem) => {
    const { createElement, useEffect, useRef, useState } = system.React;
    return () => {
      const [, setCount] = useState(0);
      const select = useRef();
      useEffect(() => {
        const refresh = () => void readNames(system).then(() => setCount((count) => count + 1));
        page.addEventListener('caller-changed', refresh);
        if (isFocused) select.current?.focus();
        refresh();
        return () => page.removeEventListener('caller-changed', refresh);
      }, []);
      if (names.length === 0) return null;
      const onChange = ({ target }: { target: { value: string } }) => {
        isFocused = true;
        load(system, target.value);
      };
      const option = (value: string, text: string) => createElement('option', { key: value, value }, text);
      const options = [option('', 'any name'), ...names.map((name) => option(name, name))];
      const onBlur = () => (isFocused = false);
      const control = createElement('select', { ref: select, value: chosen, onChange, onBlur }, ...options);
      return createElement('label', { className: 'type-selector' }, 'Entities of ', control);
    };
  };

  return {
    wrapComponents: {
      InfoUrl: (original: unknown, system: SelectorSystem) => {
        const { createElement, Fragment } = system.React;
        selector ??= makeSelector(system);
        return () => createElement(Fragment, null, createElement(original), createElement(selector));
      },
    },
  };
}
