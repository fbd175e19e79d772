import { useMemo } from 'react';
import { useSearchParams } from 'wouter';
import { useGet } from '../../api/queries';
import { Loaded, Page, together } from '../../parts/page';
import { Panel } from '../../parts/panel';
import { useMe } from '../../session';
import { Movements } from './movements';
import { bookOf } from './statement';
import { SumCheck } from './sum-check';

const kNothing = { available: 0, bonus: 0, escrow: 0 };

export default function Ledger() {
  const me = useMe();
  const [search] = useSearchParams();
  // Operators may look at anybody's.
  const name = (me.operator && search.get('account')) || me.name;
  const ledger = useGet('/v1/ledger', {});
  const statement = useGet('/v1/ledger/statement', name === me.name ? {} : { query: { account: name } });
  const balance = name === me.name ? me : (ledger.data?.accounts?.find((a) => a.name === name) ?? kNothing);
  const lines = statement.data?.lines;
  const book = useMemo(() => bookOf(lines ?? [], balance), [lines, balance]);
  return (
    <Page
      title={name === me.name ? 'Ledger' : `Ledger of ${name}`}
      about="Every credit that moved, and why. Money moves only for accepted work."
    >
      <Loaded query={together(ledger, statement)} height={700}>
        {([data]) => (
          <>
            <Panel title="Check of the ledger">
              <SumCheck ledger={data} me={name} />
            </Panel>
            <Movements account={name} book={book} />
          </>
        )}
      </Loaded>
    </Page>
  );
}
