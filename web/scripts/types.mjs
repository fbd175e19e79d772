// Writes src/api/schema.d.ts from the /v1/openapi.json of a server that is started for it.
//   node scripts/types.mjs [--check]    SOUK_BIN: the binary; default ../build/release/bin/souk
// With --check nothing is written: it fails when the file is not what the server's document gives.
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const binary = process.env.SOUK_BIN ?? here('../../build/release/bin/souk');
const target = here('../src/api/schema.d.ts');
const head = '// Made by `npm run types` from /v1/openapi.json. Do not edit.\n';

const server = spawn(binary, ['serve', '--memory', '--listen', '127.0.0.1:0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
try {
  const url = await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`${binary} ended with ${code}`)));
    createInterface(server.stdout).on('line', (line) => {
      const found = /listening on (\S+)/.exec(line);
      if (found) resolve(found[1]);
    });
  });
  const document = await (await fetch(`${url}/v1/openapi.json`)).json();
  const text = head + astToString(await openapiTS(document));
  if (!process.argv.includes('--check')) {
    await writeFile(target, text);
  } else if ((await readFile(target, 'utf8')) !== text) {
    console.error('src/api/schema.d.ts is not what /v1/openapi.json says: run `npm run types`');
    process.exitCode = 1;
  }
} finally {
  server.removeAllListeners('exit');
  server.kill('SIGTERM');
}
