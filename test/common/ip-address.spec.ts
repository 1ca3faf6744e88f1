import { networkOf } from '../../src/common/ip-address.js';

test.each([
  ['93.184.215.14', '93.184.215.14'],
  ['::ffff:93.184.215.14', '93.184.215.14'],
  ['2606:4700:1:2:3:4:5:6', '2606:4700:1:2::/64'],
  ['2606:4700:1:2::9', '2606:4700:1:2::/64'],
  ['2606:4700::1%eth0', '2606:4700:0:0::/64'],
  ['hooks.example', 'hooks.example'],
])('%s is counted as %s', (address, network) => expect(networkOf(address)).toBe(network));
