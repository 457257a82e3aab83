require 'set'

# REMARK: a book of addresses
class QBook
  attr_reader :qpeople

  def initialize(qname = "none", *qrest)
    @qpeople = { qname: qname, 'age' => 3 }
    @@qcount ||= 0
  end

  def qeach
    return enum_for(:qeach) unless block_given?
    @qpeople.each_pair do |qkey, qvalue|
      yield qkey, "#{qkey} is #{qvalue.to_s.upcase}" if qvalue != nil # REMARK: known
    end
    %w[a b].map { |qletter| qletter =~ /\d+x/i }
  end
end
