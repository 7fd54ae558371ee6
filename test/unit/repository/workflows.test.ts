import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'
import { projectDirectory } from '../../host/paths.ts'

interface Step {
  name?: string
  uses?: string
  run?: string
  shell?: string
  env?: Record<string, string>
}
interface Job {
  'runs-on': string
  'timeout-minutes'?: number
  needs?: string | string[]
  permissions?: Record<string, string>
  environment?: string
  strategy?: { matrix: { os?: string[]; include?: Array<Record<string, string>> } }
  steps: Step[]
}
interface Workflow {
  permissions?: Record<string, string>
  jobs: Record<string, Job>
}

const folder = join(projectDirectory, '.github/workflows')
const read = (file: string): Workflow => parse(readFileSync(join(folder, file), 'utf8'), { strict: true })
const workflows = readdirSync(folder).map(file => [file, read(file)] as const)
const jobs = workflows.flatMap(([file, { jobs }]) =>
  Object.entries(jobs).map(([name, job]) => [`${file}: ${name}`, job] as const),
)
const steps = jobs.flatMap(([name, job]) => job.steps.map(step => [name, step, job] as const))

describe('the workflows', () => {
  it('have jobs that end, and that wait for jobs of the same workflow', () => {
    assert.ok(jobs.length > 5)
    for (const [name, job] of jobs) assert.ok((job['timeout-minutes'] ?? 0) > 0, name)
    for (const [file, { jobs }] of workflows)
      for (const { needs = [] } of Object.values(jobs))
        for (const other of [needs].flat()) assert.ok(jobs[other], `${file}: ${other}`)
  })

  it('use actions as they were at a commit, with their version beside it', () => {
    const uses = readdirSync(folder).flatMap(
      file => readFileSync(join(folder, file), 'utf8').match(/\buses: .*/g) ?? [],
    )
    assert.equal(uses.length, steps.filter(([, { uses }]) => uses).length)
    for (const line of uses) assert.match(line, /^uses: [\w-]+\/[\w-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/)
    // one version of each
    assert.equal(new Set(uses).size, new Set(uses.map(line => line.split('@')[0])).size)
  })

  it('run nothing but npm, and bash that is well-formed', function () {
    for (const [name, { run, shell }, job] of steps) {
      if (run === undefined) continue
      const systems = job.strategy?.matrix.os ?? [job['runs-on']]
      // elsewhere, a step without a shell runs in PowerShell
      if (systems.some(system => system.startsWith('windows')) && shell !== 'bash')
        assert.match(run, /^[\w .:-]+$/, name)
    }
    if (process.platform === 'win32') this.skip()
    for (const [name, { run }] of steps) {
      if (run === undefined) continue
      const { status, stderr } = spawnSync('bash', ['-n'], { input: run, encoding: 'utf8' })
      assert.equal(status, 0, `${name}: ${run}\n${stderr}`)
    }
  })

  it('run scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(projectDirectory, 'package.json'), 'utf8'))
    const run = steps.flatMap(([, { run = '' }]) =>
      [...run.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name]) => name!),
    )
    assert.ok(run.length > 3)
    assert.deepEqual(
      run.filter(name => !(name in scripts)),
      [],
    )
  })

  it('never put what others can write into a command', () => {
    for (const [name, { run = '' }] of steps) assert.ok(!run.includes('${{'), `${name}: ${run}`)
  })
})

describe('the release workflow', () => {
  const { permissions, jobs } = read('release.yml')

  it('gives each job only what it needs', () => {
    assert.deepEqual(permissions, {})
    const granted = Object.entries(jobs).map(([name, job]) => [
      name,
      Object.entries(job.permissions ?? {}).flatMap(([what, how]) => (how === 'write' ? [what] : [])),
    ])
    assert.deepEqual(Object.fromEntries(granted), {
      check: [],
      build: [],
      attest: ['id-token', 'attestations'],
      publish: ['id-token'],
      notes: ['contents'],
    })
  })

  it('has no secrets: both places know the workflow by its identity, in a job that runs none of our packages', () => {
    for (const [name, job] of Object.entries(jobs)) {
      assert.doesNotMatch(JSON.stringify(job), /secrets\.|_PAT\b/, name)
      assert.equal(job.environment !== undefined, name === 'publish', name)
    }
    const { include } = jobs.publish!.strategy!.matrix
    assert.deepEqual(
      include?.map(({ publish }) =>
        /bin\/(\w+) publish (--oidc|--trusted-publishing) /.exec(publish!)?.slice(1),
      ),
      [
        ['vsce', '--oidc'],
        ['ovsx', '--trusted-publishing'],
      ],
    )
    const installs = jobs.publish!.steps.filter(({ run }) => run?.includes('npm'))
    assert.deepEqual(
      installs.map(({ run }) => run),
      ['npm ci --ignore-scripts'],
    )
  })

  it('builds once, and compares the files before each use', () => {
    const packing = steps.filter(
      ([name, { run }]) => name.startsWith('release.yml') && run === 'npm run package',
    )
    assert.equal(packing.length, 1)
    for (const name of ['attest', 'publish', 'notes']) {
      const at = (what: RegExp) => jobs[name]!.steps.findIndex(step => what.test(JSON.stringify(step)))
      const checked = at(/CHECKSUMS.*sha256sum --check --strict/)
      assert.ok(checked > at(/download-artifact/), name)
      assert.equal(
        checked,
        Math.min(checked, at(/attest-build|vsce publish|PUBLISH release|gh release/)),
        name,
      )
    }
  })

  it('asks first whether the version can be released', () => {
    const runs = jobs.check!.steps.map(({ run }) => run ?? '')
    const check = runs.findIndex(run => run.includes('release.ts check'))
    assert.ok(check > 0 && check < runs.indexOf('.ci/run'))
  })

  it('has the tools that publish in versions of their own, with the same vsce that packs', () => {
    const readJson = (file: string) => JSON.parse(readFileSync(join(projectDirectory, file), 'utf8'))
    const { dependencies } = readJson('test/package/tools/package.json') as { dependencies: object }
    const lock = readJson('test/package/tools/package-lock.json').packages
    assert.deepEqual(lock[''].dependencies, dependencies)
    for (const [name, version] of Object.entries(dependencies)) {
      assert.match(version, /^\d+\.\d+\.\d+$/, name)
      assert.equal(lock[`node_modules/${name}`].version, version)
    }
    const vsce = 'node_modules/@vscode/vsce'
    assert.equal(lock[vsce].version, readJson('package-lock.json').packages[vsce].version)
  })
})
