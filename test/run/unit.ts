// Runs unit tests in the Node that VS Code runs on: npm run test:unit [-- FILES AND OPTIONS OF MOCHA]
import { spawn } from 'node:child_process'
import { projectDirectory } from '../host/paths.ts'
import { installVsCodeNode } from '../host/vscode-node.ts'

const asked = process.argv.slice(2)
const namesFiles = asked.some(argument => argument.startsWith('test/'))
const node = await installVsCodeNode().catch(error => {
  console.log(`This Node runs the tests, since VS Code's couldn't be installed: ${error.message}`)
  return process.execPath
})
if (node === process.execPath && !process.getBuiltinModule('node:sqlite'))
  console.log(`Node ${process.version} has no SQLite: the tests of the history are skipped.`)
const files = namesFiles ? [] : ['test/unit/**/*.test.ts']
const child = spawn(node, ['node_modules/mocha/bin/mocha.js', ...files, ...asked], {
  cwd: projectDirectory,
  stdio: 'inherit',
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
child.on('exit', code => {
  process.exitCode = code ?? 1
})
