export { default as css } from 'highlight.js/lib/languages/css'
export { default as less } from 'highlight.js/lib/languages/less'
export { default as scss } from 'highlight.js/lib/languages/scss'
