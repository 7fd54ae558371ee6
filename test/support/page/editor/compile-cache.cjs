// Loaded before the extension host: every window loads the same code, which Node otherwise compiles each time. Unlike the
// variable NODE_COMPILE_CACHE, this doesn't reach agents.
const { enableCompileCache } = require('node:module')
const { join } = require('node:path')

enableCompileCache(join(__dirname, '../../../../out/compile-cache'))
