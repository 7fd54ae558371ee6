import assert from 'node:assert/strict'
import fc from 'fast-check'
import { REDACTED, redact } from '../../../src/acp/redact.ts'
import { MAX_REDACTED_LENGTH, redactText } from '../../../src/acp/redact-text.ts'
import { SecretRegistry } from '../../../src/common/secrets.ts'
import { cpuTime } from '../../support/cpu-time.ts'
import { scaledRuns } from '../../support/property-tests.ts'

const SECRET = 'hunter2-s3cr3t-value'
const TOKEN = SECRET.replaceAll('-', '')

describe('redact', () => {
  const hidden: Array<[string, unknown]> = [
    ['environment lists', { env: [{ name: 'KEY', value: SECRET }] }],
    ['environment objects', { env: { ANY_NAME: SECRET } }],
    ['headers', { headers: [{ name: 'X-Custom', value: SECRET }] }],
    ['keys that name a secret', { apiKey: SECRET }],
    ['keys with dashes', { 'x-api-key': SECRET }],
    ['keys with underscores', { OPENAI_API_KEY: SECRET }],
    ['camel case', { clientSecret: SECRET, accessToken: SECRET }],
    ['passwords in lists', { passwords: [SECRET, SECRET] }],
    ['objects under such a key', { credentials: { password: SECRET } }],
    ['authorization strings', { text: `curl -H "Authorization: Bearer ${SECRET}" x` }],
    ['authorization without a scheme', { text: `Authorization: ${SECRET}` }],
    ['basic authorization', `Basic ${SECRET}`],
    ['flags', { args: ['--port', '1', '--token', SECRET] }],
    ['flags with an equals sign', { args: [`--api-key=${SECRET}`] }],
    ['query parameters', { url: `https://x.test/mcp?user=a&access_token=${SECRET}#top` }],
    ['assignments', { command: `DB_PASSWORD=${SECRET} deploy && export MY_SECRET_2="${SECRET}"` }],
    ['assignments to keys', { text: `apiKey=${SECRET} ENCRYPTION_KEY=${SECRET} tokenFile=${SECRET}` }],
    ['headers in arguments', { args: ['-H', `X-Custom: ${SECRET}`, '--header', `Any: ${SECRET}`] }],
    ['users in arguments', { args: ['-u', `me:${SECRET}`] }],
    ['keys in the path of an address', { url: `https://hooks.x.test/services/T0/${SECRET}-abc/sse?a=1` }],
    ['parameters with such a word in the name', { url: `wss://x.test/?my_token_v2=${SECRET}` }],
    ['user information in an address', { url: `https://user:${SECRET}@x.test/` }],
    ['keys known by their look', { text: `my key is sk-ant-${SECRET}` }],
    ['environments as texts', { env: [`X=${SECRET}`, `Y=a=${SECRET}`] }],
    ['environments in one text', { env: `A=1\nX=${SECRET} b` }],
    ['environments with other names', { environmentVariables: { A: SECRET }, extraEnv: [`A=${SECRET}`] }],
    ['headers as pairs', { headers: [['X-Custom', SECRET]], httpHeaders: ['X-Custom', SECRET] }],
    ['headers as texts', { headers: [`X-Custom: ${SECRET}; a=${SECRET}`] }],
    ['headers with lists of values', { headers: [{ name: 'X-Custom', values: [SECRET] }] }],
    ['objects that contain the secret of a key', { token: { value: SECRET, by: [{ it: SECRET }] } }],
    ['numbers of passwords', { passphrase: `${SECRET}`, text: 'password: •••', password: 1234 }],
    ['headers in texts', `X-Auth-Token: ${SECRET}\nPRIVATE-TOKEN: ${SECRET}\nx-api-key:${SECRET}`],
    ['headers in commands', `curl -H 'PRIVATE-TOKEN: a ${SECRET}' -H "Cookie: a=${SECRET}; b=${SECRET}" x`],
    ['users of a command', `curl -s -u me:${SECRET} https://x.test; docker login -u me -p ${SECRET} x`],
    [
      'passwords of commands',
      `sshpass -p ${SECRET} ssh x; mysqldump -u me -p${SECRET} x; redis-cli -a ${SECRET} x`,
    ],
    [
      'quoted passwords of commands',
      `sshpass -p "a ${SECRET}" ssh x; mysql -p'a ${SECRET}' x; redis-cli --pass "a ${SECRET}" x`,
    ],
    ['passwords of commands of several lines', `mysql \\\n  -u me \\\r\n  -p${SECRET} \\\n  x`],
    ['users of a command of several lines', `curl -s \\\n  -u me:${SECRET} \\\n  https://x.test`],
    ['variables of Windows', `setx API_TOKEN ${SECRET} /m & setx MY_KEY "a ${SECRET}"`],
    ['variables of Windows itself', `setx /M DB_PASS ${SECRET} & setx.exe DB_PASSPHRASE ${SECRET}`],
    ['logins', `machine x.test login me password ${SECRET}`],
    ['elements', `<server><username>me</username><password>${SECRET}</password></server>`],
    ['passwords in texts', `password: ${SECRET}; and more ${SECRET}`],
    ['passwords with spaces', `my_password = correct horse ${SECRET}`],
    ['quoted values with spaces and semicolons', `export DB_PASSWORD="a b; ${SECRET}" TOKEN='x ${SECRET}'`],
    ['values with quoted parts', `TOKEN=abc"d e ${SECRET}"f`],
    ['values with semicolons', `Server=x;Password=a;${SECRET};Token=b,${SECRET}`],
    ['values with escaped quotes', `{"password": "a\\"b ${SECRET}"}`],
    ['JSON in JSON', JSON.stringify(JSON.stringify({ apiKey: `a b ${SECRET}`, password: SECRET }))],
    ['quoted values of flags', `deploy --password "a b ${SECRET}" --api-key 'c ${SECRET}' x`],
    ['values below a name', `token:\n  ${SECRET}\n\nAuthorization:\n Bearer a ${SECRET}`],
    ['values below a name, not indented', `password:\n${SECRET}\nuser: me`],
    ['block scalars', `password: |\n  a ${SECRET}\n\n  ${SECRET}\ntoken: !vault >-2 # it\n    ${SECRET} b`],
    ['block scalars in a list', `- user: me\n  password: |\n    ${SECRET}\n- password: |\n    ${SECRET}`],
    ['lists and objects below a name', `passwords:\n- ${SECRET}\n- a ${SECRET}\ntoken:\n  value: ${SECRET}`],
    ['JSON with a value on the next line', `{\n"token":\n"a ${SECRET}",\n"api_key" :\r\n  "${SECRET}" }`],
    ['objects in printed JSON', JSON.stringify({ credentials: { it: [SECRET] } }, undefined, 2)],
    ['folded headers', { headers: `Authorization:\r\n Bearer ${SECRET}\r\n x ${SECRET}\r\nHost: x` }],
    ['lines of a list', { lines: ['password:', SECRET, '  apiKey: ', SECRET] }],
    ['diffs', `+password: |\n+  a ${SECRET}\n-token:\n-  ${SECRET}`],
    [
      'numbered lines',
      `   9→  token:\n  10→    a ${SECRET}\n  11→  password: |\n  12→\n  13→    ${SECRET} a`,
    ],
    [
      'values below a name in Markdown',
      `**Token:**\n\n\`\`\`text\n${SECRET}\n\`\`\`\n**Password:**\n${SECRET}`,
    ],
    [
      'code with the value below',
      `const token =\n    'a ${SECRET}';\nx = {\n  apiKey:\n    \`${SECRET} a\` }`,
    ],
    ['lists in code', `const secrets = [\n  "a ${SECRET}",\n  "b ${SECRET}",\n]`],
    ['lists that are not indented', `tokens: [\n"${SECRET}",\n"${SECRET}"\n]`],
    ['lists in a shell', `export SECRETS=(\n  "${SECRET}"\n  "${SECRET}"\n)`],
    ['text in three quotes', `password = """\n${' '.repeat(20)}a ${SECRET}\n${SECRET}\n"""`],
    ['texts in parentheses', `secret = (\n "${SECRET}"\n "${SECRET}"\n)`],
    ['declarations with the value below', `password := \n ${SECRET}`],
    ['headers that go on', `cookie: a=b;\n c=${SECRET}\nAuthorization: Digest a,\r\n r="${SECRET}"`],
    ['counts of passwords', `passwords:\n  a: 1234\npassword:\n${SECRET}`],
    ['continued commands', `deploy --token \\\n  ${SECRET} --user a\nTOKEN=\\\n${SECRET}`],
    [
      'private keys',
      `-----BEGIN RSA PRIVATE KEY-----\n${SECRET.replaceAll('-', '')}\n-----END RSA PRIVATE KEY-----`,
    ],
    ['tokens known by their look', { text: `ghp_${TOKEN} sk_live_${TOKEN} rk_test_${TOKEN} whsec_${TOKEN}` }],
    [
      'such tokens in addresses',
      `https://ghp_${TOKEN}@x.test/a https://x.test/?to=https%3A%2F%2Fghp_${TOKEN}%40x.test https://x.test/a_ghp_${TOKEN}`,
    ],
    [
      'such tokens in prose',
      `This is your new token:\n\nsk_live_${TOKEN}, and the other one is\n\`ghp_${TOKEN}\`.`,
    ],
    ['passwords of signing in', `podman login -u me -p ${SECRET} x; az login -u me -p '${SECRET}'`],
    ['passwords among arguments', { command: 'docker', args: ['login', '-u', 'me', '-p', SECRET] }],
    [
      'passwords among arguments of a program',
      { command: '/usr/bin/sshpass', args: ['-p', SECRET, 'ssh', 'x'] },
    ],
    ['passwords among the words of a command', { command: ['sshpass', '-p', SECRET, 'ssh', 'x'] }],
    ['personal access tokens in an environment', `GITHUB_PAT=${SECRET} AZURE_PAT="a ${SECRET}" x`],
    [
      'personal access tokens',
      { pat: SECRET, text: JSON.stringify({ githubPat: SECRET, AZURE_PAT: SECRET }) },
    ],
    ['web tokens', { jwt: SECRET, text: JSON.stringify({ user_jwt: SECRET, accessJwt: SECRET }) }],
    [
      'such flags',
      { args: ['--pat', SECRET, '--github-pat', SECRET], text: `x --pat ${SECRET} --jwt=${SECRET}` },
    ],
  ]
  for (const [what, value] of hidden) {
    it(`hides ${what}`, () => {
      const text = JSON.stringify(redact({ jsonrpc: '2.0', params: value }))
      assert.ok(!text.includes('s3cr3t'), text)
      assert.ok(text.includes(REDACTED), text)
    })
  }

  it('keeps the names of secrets and everything else', () => {
    const message = {
      jsonrpc: '2.0',
      id: 1,
      method: 'session/new',
      params: {
        cwd: '/work',
        mcpServers: [
          { name: 'a', command: '/bin/a', args: ['--verbose'], env: [{ name: 'KEY', value: SECRET }] },
          {
            type: 'http',
            name: 'b',
            url: 'https://b.test/mcp',
            headers: [{ name: 'Authorization', value: SECRET }],
          },
        ],
        usage: { totalTokens: 1234, tokens: 5 },
        text: 'The token count is 12 and the key point is clear. https://x.test/a?page=2 max_tokens=4096 monkey=tree',
        command:
          'FOO=bar npm run a-very-long-script-name-2 && open https://x.test/some-long-path-of-words/index.html',
        keyboard: 'Enter',
        sessionId: 'abc',
      },
    }
    const before = structuredClone(message)
    assert.deepEqual(redact(message), {
      ...before,
      params: {
        ...before.params,
        mcpServers: [
          { ...before.params.mcpServers[0], env: [{ name: 'KEY', value: REDACTED }] },
          { ...before.params.mcpServers[1], headers: [{ name: 'Authorization', value: REDACTED }] },
        ],
      },
    })
    assert.deepEqual(message, before)
  })

  it('returns the same frame if there is nothing to hide', () => {
    const message = {
      jsonrpc: '2.0',
      method: 'session/update',
      params: { list: [1, { a: 'b' }, null, true] },
    }
    assert.equal(redact(message), message)
  })

  it('never throws and never changes its input', () => {
    fc.assert(
      fc.property(fc.jsonValue(), value => {
        const before = structuredClone(value)
        JSON.stringify(redact(value))
        assert.deepEqual(value, before)
      }),
    )
    let deep: unknown = SECRET
    for (let i = 0; i < 100_000; i++) deep = [deep]
    assert.ok(!JSON.stringify(redact(deep)).includes(SECRET))
  })

  it('hides all values of an environment', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string({ minLength: 1 })), env => {
        const { params } = redact({ params: { env } }) as { params: { env: Record<string, string> } }
        assert.deepEqual(Object.keys(params.env), Object.keys(env))
        assert.ok(Object.values(params.env).every(value => value === REDACTED))
      }),
    )
  })

  it('keeps the rest of a text around a value', () => {
    for (const [text, expected] of [
      [`curl -H "X-Auth-Token: ${SECRET}" https://x.test`, `curl -H "X-Auth-Token: •••" https://x.test`],
      [`{"token": "${SECRET}", "page": 2}`, '{"token": "•••", "page": 2}'],
      [`curl -u me:${SECRET} https://x.test`, 'curl -u me:••• https://x.test'],
      [`<token>${SECRET}</token> <tokens>5</tokens>`, '<token>•••</token> <tokens>5</tokens>'],
      ['docker run -u 1000:1000 -p 80:80 x', 'docker run -u 1000:1000 -p 80:80 x'],
      [JSON.stringify(`{"token": "${SECRET}", "page": 2}`), '"{\\"token\\": \\"•••\\", \\"page\\": 2}"'],
      [`TOKEN=${SECRET}; npm test`, 'TOKEN=•••; npm test'],
      [`'TOKEN=${SECRET}' npm test`, `'TOKEN=•••' npm test`],
      [`password: ${SECRET}\nnext line`, 'password: •••\nnext line'],
      [`deploy --token ${SECRET} --port 80`, 'deploy --token ••• --port 80'],
      ['tokens: 512\nkey: value, author: me', 'tokens: 512\nkey: value, author: me'],
      [`token:\n  ${SECRET}\nnext: 1`, 'token:\n  •••\nnext: 1'],
      [`  password: |\n    ${SECRET}\n    b\n\n  user: me`, '  password: |\n    •••\n\n  user: me'],
      [`{\n  "token":\n    "${SECRET}",\n  "page": 2\n}`, '{\n  "token":\n    "•••",\n  "page": 2\n}'],
      [`Authorization:\r\n Bearer x\r\nHost: y`, 'Authorization:\r\n •••\r\nHost: y'],
      [`Token:\n\`\`\`\n${SECRET}\n\`\`\`\nSave it.`, 'Token:\n```\n•••\n```\nSave it.'],
      [
        'mkdir -p build && docker login -u me -p abc x && docker run -p 80:80 x',
        'mkdir -p build && docker login -u me -p ••• x && docker run -p 80:80 x',
      ],
    ] as const) {
      assert.equal(redactText(text), expected)
    }
  })

  it('keeps what follows a name that ends a sentence or has no value', () => {
    for (const text of [
      'To get a token:\n\n1. Open the settings\n2. Copy the token:\n   - with the button\n   - with the menu',
      'There are two ways to change your password:\nThe settings, or the command line.',
      'The agent asks for a token:\nPlease enter it.',
      'This is the token:\n\n`README.md`\n\nAnd this is the other token:\npackage-lock.json',
      'Pat: the path is compat=1 and format-pat=2, with --compat 3',
      'I looked for the secret:\n\n```ts\nconst a = 1\nconst b = 2\n```\n',
      'if not token:\n    return None\nif token:\n    continue\n',
      'class Token:\n    """The token of a user."""\n    size = 1',
      'const token =\n    await readToken(file)\n',
      'token:\nuser: me\npassword:\nname:\n  x',
      'TOKEN=\nOTHER=value',
      '"tokens": {\n  "input": 12,\n  "output": 3\n}',
      'tokens: {\n input: 3}',
      'Tokens:\n  input: 123',
      'ERROR no token:\n/home/me/project/file.ts',
      'Missing token:\nhttps://x.test/docs',
      'error: unexpected token:\n   --> src/main.rs:2:3',
      'Expected token:\n  "}"',
      'Secrets:\n- Go to Settings\n- Click New',
      'Signature:\n  foo(a: int) -> str',
      'interface A {\n  token: {\n    kind: string\n  }\n}',
      'auth:\n  user: me\n  kind: basic',
      'tokens:\n  512\nnext: 1',
      'token:',
      'token:\n',
      'token: |\n\n\nuser: me',
    ]) {
      assert.equal(redactText(text).replace('token: •••', 'token: |'), text)
    }
  })

  it("hides the values of every form in which a password is written, and nothing that's behind them", () => {
    const names = fc.constantFrom(
      'password',
      'X-Auth-Token',
      'PRIVATE-TOKEN',
      'api_key',
      'clientSecret',
      'DB_PASSWORD_2',
    )
    const value = fc
      .string({ minLength: 1, maxLength: 40, unit: fc.constantFrom(...'abXY09 ;:=,.-_+/!é') })
      .map(text => `q${text}q`)
    const forms: Array<(name: string, value: string) => unknown> = [
      (name, value) => `${name}: ${value}`,
      (name, value) => `${name} = ${value}`,
      (name, value) => `${name}="${value}"`,
      (name, value) => `${name}='${value}'`,
      (name, value) => `curl -H '${name}: ${value}'`,
      (name, value) => JSON.stringify({ [name]: value }),
      (name, value) => JSON.stringify(JSON.stringify({ [name]: value })),
      (name, value) => `${name}:\n  ${value}`,
      (name, value) => `a:\n  - ${name}:\n      ${value}\n\n      ${value}`,
      (name, value) => `${name}: |\n  ${value}\n   ${value}`,
      (name, value) => `a: 1\r\n  ${name}: >-\r\n    ${value}\r\n    ${value}`,
      (name, value) => `"${name}": # it\n\t${value}`,
      (name, value) => `{ "${name}":\n${JSON.stringify(value)} }`,
      (name, value) => `{\n  "${name}":\n    ${JSON.stringify(value)}\n}`,
      (name, value) => JSON.stringify({ a: { [name]: { b: [value] } } }, undefined, 2),
      (name, value) => `  ${name} =\n    "${value}"`,
      (name, value) => `+${name}: |\n+  ${value}`,
      (name, value) => `   9→${name}:\n  10→  ${value}`,
      (name, value) => ({ headers: `${name}:\n ${value}\n\t${value}` }),
      (name, value) => ({ [name]: { value } }),
      (name, value) => ({ [name]: [[value]] }),
      (name, value) => ({ env: [`${name}=${value}`] }),
      (_name, value) => ({ env: [`ANY=${value}`] }),
      (_name, value) => ({ headers: [['Any', value]] }),
      (_name, value) => ({ headers: ['Any', value] }),
      (name, value) => ({ headers: { [name]: [value] } }),
    ]
    fc.assert(
      fc.property(names, value, fc.constantFrom(...forms), (name, value, write) => {
        const written = write(name, value)
        const text = JSON.stringify(redact(written))
        assert.ok(!text.includes(JSON.stringify(value).slice(1, -1)), text)
        assert.ok(!/q[abXY09]|[abXY09]q/.test(text.replaceAll(name, '')), text)
        if (typeof written === 'string') assert.match(redactText(`${written}\nnext`), /\nnext$/)
      }),
    )
  })

  describe('takes time in proportion to the size', () => {
    const [SMALL, LARGE] = [12_000, 96_000]
    /** The most runs whose shortest time counts: a garbage collection or a busy machine makes single runs longer. */
    const MOST_RUNS = 20
    /** Shorter times aren't compared: long matches have a cost of their own in the engine, which a slow machine multiplies. */
    const SHORT_MS = 2
    function assertLinear(unit: string): void {
      const textOf = (size: number) => unit.repeat(Math.ceil(size / unit.length)).slice(0, size)
      const [smallText, largeText] = [textOf(SMALL), textOf(LARGE)]
      let [small, large] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
      for (let run = 1; run <= MOST_RUNS; run++) {
        small = Math.min(
          small,
          cpuTime(() => redactText(smallText)),
        )
        large = Math.min(
          large,
          cpuTime(() => redactText(largeText)),
        )
        if (run >= 3 && large < Math.max(small, SHORT_MS) * 3 * (LARGE / SMALL)) return
      }
      assert.fail(`${JSON.stringify(unit)}: ${small} ms, ${large} ms`)
    }
    const units = [
      ...[
        'a',
        'A_',
        '-',
        '--',
        '- ',
        ' ',
        '=',
        ':',
        '"',
        "'",
        '\\',
        '\\"',
        ';',
        '&',
        '?',
        '/',
        '//',
        '@',
        'é',
        '\n',
      ],
      ...['a=', 'a =', 'a= ', 'a:', 'a"=', '"a":', '&a', '&a=', '?token', '&token=', '?a.token'],
      ...[
        'token',
        'token ',
        'token  ',
        'token=',
        'token= ',
        'token:',
        'token: ',
        '"token":',
        '"token":"',
        'token=a',
      ],
      ...[
        'token="',
        "token='",
        'token=\\"',
        'token=a\\"',
        'token=a"',
        'token=a"\\',
        'token="\\',
        "token=a'\n",
        'token: "\n',
      ],
      ...[
        'token:\n',
        'token:\n ',
        'token:\n  a',
        'token: |\n',
        'token: |\n a\n',
        ' token:\n',
        'token:\n\n',
        'token:\r\n',
      ],
      ...[
        '"token":\n',
        '"token":\n"',
        '"token":\n"a\\',
        'a token:\n',
        'a token:\n```\n',
        'token:\n1:',
        'token:\n- ',
      ],
      ...[
        'token:#',
        'token: # "',
        '"token:#"',
        'token=#',
        'token: !a &b |',
        'token:**',
        'token: {\n',
        ' \n',
        '\n ',
        '+',
        '> ',
      ],
      ...[
        'token=[\n',
        'token: [\n"a"\n',
        '"a"\n',
        'token="""',
        "token='''",
        'token:=',
        'cookie: a;\n ',
        'token:\n- a b\n',
      ],
      ...['token=\n "', 'token=\\\n', '--token \\\n', 'token=\n', '| ', '12→', '\r'],
      ...['bearer ', 'basic\t', 'authorization', 'authorization:', 'cookie : ', 'x-api-key="'],
      ...['--token', '--token ', '--token=', '--a-', '--password -', '--secret "', "--secret a'"],
      ...['//a:', '//:', 'a:b@', '//a:b', '//u:p@', 'http://', 'https://a/', 'https://a?', 'wss://a1'],
      ...[
        'sk-',
        'sk-a',
        'sk_live_',
        'ghp_',
        '%2Fghp_',
        'docker login ',
        'docker login -p ',
        'xoxb-',
        'AKIA',
        'eyJ',
        'eyJ-',
        'eyJaaaaaaaaaa.',
        '.eyJaaaaaaaaaa',
        'npm_-',
      ],
      ...[
        'mysql -',
        'mysql -p',
        'mysql -p"',
        'mysql \\\n',
        'curl \\\n',
        'curl -u ',
        'sshpass -p',
        'redis-cli -a',
        'setx ',
        'setx KEY',
        '<token ',
        'login a ',
      ],
      ...['-----BEGIN ', '-----BEGIN PRIVATE KEY-----', '-----BEGIN A PRIVATE KEY', 'KEY.1', 'apiKeyToken'],
    ]
    for (const unit of units) it(`for ${JSON.stringify(unit)}`, () => assertLinear(unit))

    it('for generated texts', () => {
      fc.assert(
        fc.property(
          fc.array(fc.constantFrom(...units), { minLength: 1, maxLength: 4 }).map(parts => parts.join('')),
          assertLinear,
        ),
        { numRuns: scaledRuns(50) },
      )
    })

    it('for one long text in each place of a frame, which is cut first', () => {
      const long = `${'password '.repeat(250_000)}${SECRET}`
      const frames = [
        { text: long },
        { args: ['--data', long] },
        { env: [`A=${long}`] },
        { env: long },
        { [long]: 'x' },
        { args: [long, 'x'] },
        Array.from({ length: 200_000 }, () => 'password'),
        Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`password${i}`, 'password: it'])),
      ]
      for (const frame of frames) {
        const time = cpuTime(() => redact(frame, { maxLength: MAX_REDACTED_LENGTH }))
        assert.ok(time < 500, `${time} ms`)
      }
      const { text } = redact(frames[0]) as { text: string }
      assert.ok(text.length <= MAX_REDACTED_LENGTH)
      assert.match(text, /password … \(2250020\)$/)
    })
  })

  it('keeps no part of a secret at the cut of a text', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 40 }),
        fc.constantFrom(SECRET, 'two words 12345'),
        (offset, secret) => {
          const secrets = new SecretRegistry()
          secrets.add(secret)
          const before = 'a b '.repeat(25).slice(offset)
          const { text } = redact({ text: `${before}${secret} and more` }, { maxLength: 105, secrets }) as {
            text: string
          }
          const shown = secrets.redact(text)
          for (let length = 4; length <= secret.length; length++) {
            assert.ok(!shown.includes(secret.slice(0, length)), shown)
          }
        },
      ),
    )
  })

  it('keeps about as many characters of a frame as asked for', () => {
    const frame = { params: { list: Array.from({ length: 1000 }, (_, i) => ({ [`key${i}`]: 'some text' })) } }
    const text = JSON.stringify(redact(frame, { maxLength: 1000 }))
    assert.ok(text.length < 3000, `${text.length}`)
    assert.match(text, /^\{"params":\{"list":\[\{"key0":"some text"\},.*"… \(1000\)"\]\}\}$/)
  })
})
