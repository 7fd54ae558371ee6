import type { Plugin } from 'esbuild'

export declare const smallSchemas: Plugin
