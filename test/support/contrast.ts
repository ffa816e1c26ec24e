/**
 * A program for a browser's page: the visible texts whose contrast with their background is less than 4.5 (WCAG 2.2, 1.4.3), each with its
 * contrast. Backgrounds are colours of the elements around a text; a picture behind a text does not count.
 */
export const lowContrast = `(() => {
  const channels = (colour) => { const [r, g, b, a = 1] = colour.match(/[\\d.]+/g).map(Number); return { r, g, b, a }; };
  const over = (top, below) => {
    const mix = (name) => top[name] * top.a + below[name] * (1 - top.a);
    return { r: mix('r'), g: mix('g'), b: mix('b'), a: 1 };
  };
  const linear = (value) => (value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = ({ r, g, b }) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const backgroundOf = (element) => {
    if (!element) return { r: 255, g: 255, b: 255, a: 1 };
    const own = channels(getComputedStyle(element).backgroundColor);
    return own.a === 1 ? own : over(own, backgroundOf(element.parentElement));
  };
  const faults = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { parentElement, data } = texts.currentNode;
    if (data.trim() === '' || parentElement.localName === 'option') continue;
    if (!parentElement.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    const below = backgroundOf(parentElement);
    const both = [luminance(over(channels(getComputedStyle(parentElement).color), below)), luminance(below)];
    const contrast = (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
    if (contrast < 4.5) faults.push(contrast.toFixed(1) + ': ' + data.trim());
  }
  return faults;
})()`;
