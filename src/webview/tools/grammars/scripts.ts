export { default as javascript } from 'highlight.js/lib/languages/javascript'
export { default as typescript } from 'highlight.js/lib/languages/typescript'
