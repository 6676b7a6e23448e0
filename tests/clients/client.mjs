// The TypeScript SDK's own client, driven by a list of steps on the command line; prints what it saw as JSON.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const plan = JSON.parse(process.argv[2]);
const transport = plan.url
  ? new StreamableHTTPClientTransport(new URL(plan.url), { requestInit: { headers: plan.headers } })
  : new StdioClientTransport({ command: plan.command, args: plan.args, env: plan.env, cwd: plan.cwd });
const options = plan.era === '2026' ? { versionNegotiation: { mode: 'auto' } } : {};
const client = new Client({ name: 'ts-client', version: '1.0.0' }, options);

await client.connect(transport);
const seen = {
  protocol: client.getNegotiatedProtocolVersion(),
  instructions: client.getInstructions(),
  tools: (await client.listTools()).tools,
  calls: [],
};
for (const [name, args] of plan.calls) {
  try {
    seen.calls.push(await client.callTool({ name, arguments: args }));
  } catch (error) {
    seen.calls.push({ thrown: error.code, message: String(error.message) });
  }
}
await client.close();
process.stdout.write(JSON.stringify(seen));
