import { Page } from '../../parts/page';

export default function Room() {
  return <Page title="Jobs">{null}</Page>;
}
