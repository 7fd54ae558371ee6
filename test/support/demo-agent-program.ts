import { join } from 'node:path'
import * as esbuild from 'esbuild'
import { projectDirectory } from '../host/paths.ts'

/** The demo agent as one file that runs by itself: in the extension it shares what it uses with the rest. */
export function demoAgentProgram(): string {
  const { outputFiles } = esbuild.buildSync({
    entryPoints: [join(projectDirectory, 'src/demo-agent/main.ts')],
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    banner: { js: '#!/usr/bin/env node' },
    write: false,
  })
  return outputFiles[0]!.text
}
